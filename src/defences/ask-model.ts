import { z } from 'zod';
import type { CallContext } from '../contracts/call.ts';
import type { ChatMessage, ChatModel, ChatReply, ChatRequest } from '../contracts/model.ts';
import type { ModelUse, TemplateUse } from '../contracts/plugin.ts';
import { HeamsError } from '../lib/errors.ts';
import { template } from '../lib/template.ts';
import { modelSettings, modelSettingsShape } from '../schema/model-settings.ts';
import { byDefence } from './guarded-agent.ts';

/** For the defences that ask a model. */
export const askingShape = {
  model_id: z.string().min(1),
  /** What the model is told about a reply that could not be used, a Liquid template over `problem`. */
  repair_prompt: z.string().min(1),
  /** Calls for one answer, the first one included; then the sample fails. */
  attempts: z.int().min(1).max(5).default(3),
  ...modelSettingsShape,
} as const;

const asking = z.strictObject(askingShape);
type Asking = z.infer<typeof asking>;

export const askingModels = (options: Asking): ModelUse[] => [
  { path: ['model_id'], settings: modelSettings(options.model_id, options), kind: 'chat', role: 'defence' },
];

export const repairTemplate = ({ repair_prompt: source }: Asking): TemplateUse => ({
  path: ['repair_prompt'],
  source,
  variables: ['problem'],
});

export interface Question<T> {
  /** What is asked, rendered. */
  system: string;
  user: string;
  jsonSchema: NonNullable<ChatRequest['jsonSchema']>;
  /** The answer in a JSON object; throws an `Error` that says in words what is wrong with it. */
  read(value: unknown): T;
}

export interface AskModelOptions {
  /** The defence's name, for errors. */
  name: string;
  options: Asking;
  model: ChatModel;
}

/** Asks until there is an answer that can be used. */
export type AskModel = <T>(question: Question<T>, call: CallContext) => Promise<T>;

/**
 * Asks a model for JSON and takes nothing else: a reply is one JSON object of the right shape, or it is asked for again
 * with what was wrong about it, at most `attempts` times in all. Nothing is ever guessed from prose.
 *
 * @throws HeamsError `defence_unreadable` where no reply could be used, and what the model throws.
 */
export function askModel({ name, options, model }: AskModelOptions): AskModel {
  const repair = template(options.repair_prompt);
  return async ({ system, user, jsonSchema, read }, call) => {
    const own = byDefence(call);
    const messages: ChatMessage[] = [
      ...(system.trim() === '' ? [] : [{ role: 'system' as const, content: system }]),
      { role: 'user', content: user },
    ];
    let problem = '';
    for (let attempt = 1; attempt <= options.attempts; attempt++) {
      own.signal.throwIfAborted();
      const reply = await model.generate({ messages: [...messages], jsonSchema }, own);
      try {
        return read(jsonObject(reply));
      } catch (error) {
        problem = (error as Error).message;
      }
      // Providers refuse an empty turn.
      if (reply.text.trim() !== '') messages.push({ role: 'assistant', content: reply.text });
      messages.push({ role: 'user', content: repair.render({ problem }) });
    }
    throw unreadable(name, options.attempts, problem);
  };
}

function unreadable(name: string, attempts: number, problem: string): HeamsError {
  return new HeamsError(`the defence "${name}" got no answer that it could use: ${problem}`, {
    code: 'defence_unreadable',
    expected: 'one JSON object as its prompt asks for',
    found: `nothing of the kind in ${attempts} ${attempts === 1 ? 'reply' : 'replies'}`,
    hint: 'take a model that follows the format, or raise attempts or max_tokens in the defence file',
  });
}

/** Thoughts that some local models put before their answer, and the fence that many put around JSON. */
const thoughts = /^\s*<think>[\s\S]*?<\/think>/i;
const fence = /^```(?:json)?[^\S\n]*\n([\s\S]*)\n[^\S\n]*```$/i;

/** The one JSON object that a reply is. Messages of the errors are for the model and hold nothing of the reply. */
function jsonObject({ text, finishReason }: ChatReply): unknown {
  if (finishReason === 'cut_off') throw new Error('the reply ended at the token limit');
  if (finishReason === 'refused') throw new Error('the reply was declined');
  const bare = text.replace(thoughts, '').trim();
  const json = fence.exec(bare)?.[1] ?? bare;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new Error('the reply is not one JSON object and nothing else');
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new Error('the reply is no JSON object');
  return value;
}

/** The value as `schema` has it. Throws an `Error` that names the place and what was expected there. */
export function shaped<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const at = issue?.path.join('.');
  throw new Error(`${at ? `at "${at}": ` : ''}${issue?.message ?? 'another shape'}`);
}

/** Items as JSON, one a line with its number from 1, so that no text of theirs can pass for another item. */
export const numbered = (texts: readonly string[]): string =>
  texts.map((text, i) => JSON.stringify({ number: i + 1, text })).join('\n');
