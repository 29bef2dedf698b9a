import { z } from 'zod';
import type { CallContext } from '../contracts/call.ts';
import type { ChatMessage, ChatModel, ChatRequest } from '../contracts/model.ts';
import { HeamsError, messageOf } from '../lib/errors.ts';
import type { Template } from '../lib/template.ts';
import type { Fact, StoredItem } from '../schema/record.ts';
import { wholeReply } from './memory-llm.ts';
import { toldFacts } from './told-facts.ts';

export interface ExtractionPrompts {
  system: Template;
  user: Template;
  retry: Template;
}

export interface Extraction {
  model: ChatModel;
  prompts: ExtractionPrompts;
  call: CallContext;
}

const replySchema = z.strictObject({
  facts: z.array(z.strictObject({ text: z.string().trim().min(1), sources: z.array(z.int()).default([]) })),
});
type Extracted = z.infer<typeof replySchema>;

const jsonSchema: NonNullable<ChatRequest['jsonSchema']> = {
  name: 'extracted_facts',
  schema: {
    type: 'object',
    properties: {
      facts: {
        type: 'array',
        items: {
          type: 'object',
          properties: { text: { type: 'string' }, sources: { type: 'array', items: { type: 'integer' } } },
          required: ['text', 'sources'],
          additionalProperties: false,
        },
      },
    },
    required: ['facts'],
    additionalProperties: false,
  },
};

const ATTEMPTS = 3;
/** A code fence around the whole reply, which models put there that take no schema. */
const fence = /^```(?:json)?\s*\n([\s\S]*)\n```$/;

/** The whole reply as JSON of one shape; nothing is picked out of prose. */
function parse(text: string): { ok: true; found: Extracted } | { ok: false; problem: string } {
  const trimmed = text.trim();
  let value: unknown;
  try {
    value = JSON.parse(fence.exec(trimmed)?.[1] ?? trimmed);
  } catch (error) {
    return { ok: false, problem: `not JSON: ${messageOf(error).slice(0, 200)}` };
  }
  const { success, data, error } = replySchema.safeParse(value);
  if (success) return { ok: true, found: data };
  const [issue] = error.issues;
  return { ok: false, problem: `${issue?.path.join('.') || 'the reply'}: ${issue?.message}` };
}

/** What was extracted with the facts it names. A number that is no fact's names none. */
function attributed({ facts: found }: Extracted, facts: readonly Fact[]): StoredItem[] {
  return found.map(({ text, sources }) => {
    const ids = sources.flatMap((number) => facts[number - 1]?.id ?? []);
    return { text, fact_ids: [...new Set(ids)] };
  });
}

/**
 * Asks a model for the atomic facts in some facts. A reply that cannot be read is asked for again, at most twice, with
 * what was wrong with it.
 *
 * @throws HeamsError `memory_extraction_unreadable` where no reply could be read; what `wholeReply` throws.
 */
export async function extractFacts(
  { model, prompts, call }: Extraction,
  facts: readonly Fact[],
): Promise<StoredItem[]> {
  const words = toldFacts(facts);
  const messages: ChatMessage[] = [
    { role: 'system', content: prompts.system.render(words) },
    { role: 'user', content: prompts.user.render(words) },
  ];
  for (let attempt = 1; ; attempt++) {
    const { text } = await wholeReply(model, { messages: [...messages], jsonSchema }, call);
    const parsed = parse(text);
    if (parsed.ok) return attributed(parsed.found, facts);
    if (attempt === ATTEMPTS) {
      throw new HeamsError(`${model.id}: what it extracted for the memory could not be read`, {
        code: 'memory_extraction_unreadable',
        expected: '{"facts": [{"text": "...", "sources": [1]}]}',
        found: `${parsed.problem}, after ${ATTEMPTS} attempts; the last began with ${JSON.stringify(text.slice(0, 80))}`,
        hint: 'take a model that keeps to a JSON schema',
      });
    }
    // Some providers take no empty turn.
    if (text.trim() !== '') messages.push({ role: 'assistant', content: text });
    messages.push({ role: 'user', content: prompts.retry.render({ problem: parsed.problem }) });
  }
}
