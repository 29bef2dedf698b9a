import { z } from 'zod';
import type { Agent, Task } from '../contracts/agent.ts';
import type { CallContext, Clock } from '../contracts/call.ts';
import type { ChatMessage, ChatModel } from '../contracts/model.ts';
import type { AgentPlugin } from '../contracts/plugin.ts';
import { HeamsError } from '../lib/errors.ts';
import { template } from '../lib/template.ts';
import { modelSettings, modelSettingsShape } from '../schema/model-settings.ts';
import { namingShape } from '../schema/naming.ts';
import type { Recall, Turn } from '../schema/record.ts';
import { type Conversation, conversationMemory } from './conversation-memory.ts';
import { memoriesText } from './memories-text.ts';
import { converseWithSearch, type ToolOutcome } from './search-tool.ts';

const DEFAULT_TOOL_CALLS = 8;

const schema = z
  .strictObject({
    ...namingShape,
    kind: z.literal('llm').default('llm'),
    model_id: z.string().min(1),
    /** The system prompt, a Liquid template. */
    instructions: z.string().min(1),
    /**
     * `none`: the memory is never asked. `inject`: one search for the task, its items in `{{ memories }}`.
     * `tool`: the model may search for itself.
     */
    memory_strategy: z.enum(['none', 'inject', 'tool']),
    /** With `tool` alone: how often the model may call the tool before it must answer; 8 by default. */
    max_tool_calls: z.int().positive().optional(),
    ...modelSettingsShape,
  })
  .refine((options) => options.max_tool_calls === undefined || options.memory_strategy === 'tool', {
    path: ['max_tool_calls'],
    error: 'max_tool_calls needs memory_strategy: tool',
  });
export type LlmOptions = z.infer<typeof schema>;

/** A model with instructions, and one of three ways to reach its memory. */
export const llm: AgentPlugin<LlmOptions> = {
  name: 'llm',
  summary: 'a model with instructions that has its memory injected, may search it, or has none',
  needs: "a model: its provider's key, or a local server",
  schema,
  models: (options) => [
    { path: ['model_id'], settings: modelSettings(options.model_id, options), kind: 'chat', role: 'agent' },
  ],
  templates(options, offered) {
    const use = { path: ['instructions'], source: options.instructions };
    if (options.memory_strategy !== 'inject') return [{ ...use, variables: offered }];
    return [{ ...use, variables: [...offered, 'memories'], requires: ['memories'] }];
  },
  async create(options, context) {
    const model = await context.model(modelSettings(options.model_id, options));
    return llmAgent(options, model, context.clock);
  },
};

function llmAgent(options: LlmOptions, model: ChatModel, clock: Clock): Agent {
  const instructions = template(options.instructions);
  const { memory_strategy: strategy, max_tool_calls: maxToolCalls = DEFAULT_TOOL_CALLS } = options;
  const conversations = strategy === 'none' ? conversationMemory(model, clock) : undefined;

  return {
    name: options.name ?? 'llm',
    seesLabels: false,
    ...(conversations ? { ownMemory: conversations.ownMemory } : {}),
    async respond(task, memory, call) {
      call.signal.throwIfAborted();
      const injected = strategy === 'inject' ? [await memory.scope.search(task.query, memory.topK)] : [];
      const told = conversations?.of(memory.scopeId);
      const messages = withEarlier(told, opening(instructions.render(variables(task, injected)), task.turns));
      const outcome =
        strategy === 'tool'
          ? await converseWithSearch({ model, messages, memory, maxToolCalls, call })
          : await answerOnce(model, messages, call);
      const { reply } = outcome;
      if (reply.finishReason === 'cut_off') throw cutOff(model.id, reply.text);
      if (strategy === 'tool' && reply.toolRequests.length > 0) throw askedTooMuch(model.id, maxToolCalls);
      return {
        message: reply.text,
        prompt: messages.map(({ role, content }) => ({ role, content })),
        recalls: [...injected, ...(told ? [told.recall(task.query)] : []), ...outcome.recalls],
        tool_calls: outcome.toolCalls,
        finish_reason: reply.finishReason,
        ...(reply.modelVersion === undefined ? {} : { model_version: reply.modelVersion }),
        warnings: [...new Set(outcome.warnings)],
        ...(told ? { external: { recalls_known: true } } : {}),
      };
    },
  };
}

/** Half a message is not what the agent would have sent, and grading it would make a limit look like discretion. */
function cutOff(modelId: string, text: string): HeamsError {
  return new HeamsError(`${modelId}: the message ended at the token limit, after ${text.length} characters`, {
    code: 'agent_cut_off',
    hint: 'raise max_tokens in the agent file; a reasoning model needs room for its thoughts as well',
  });
}

/** What stands beside one more call is not the message: taken for it, a limit would look like discretion. */
function askedTooMuch(modelId: string, limit: number): HeamsError {
  return new HeamsError(`${modelId}: it asked for tools after its ${limit} calls, in place of an answer`, {
    code: 'agent_tool_limit',
    expected: 'a message once no tool may be called',
    hint: 'raise max_tool_calls in the agent file, or take a model and a server that honour tool_choice: none',
  });
}

function variables(task: Task, injected: readonly Recall[]): Record<string, string> {
  const [recall] = injected;
  return recall ? { ...task.variables, memories: memoriesText(recall.items) } : { ...task.variables };
}

/**
 * The instructions, unless they are blank for this sample, and the conversation so far. System turns at its head (what
 * a defence adds) become part of the instructions: some providers take one system message and no more.
 */
function opening(instructions: string, turns: readonly Turn[]): ChatMessage[] {
  const head = turns.findIndex(({ role }) => role !== 'system');
  const guidance = turns.slice(0, head === -1 ? turns.length : head);
  const parts = [instructions, ...guidance.map(({ content }) => content)].filter((text) => text.trim() !== '');
  const system: ChatMessage[] = parts.length === 0 ? [] : [{ role: 'system', content: parts.join('\n\n') }];
  return [...system, ...turns.slice(guidance.length).map(chatMessage)];
}

/** What was told before the task stands between the instructions and the task. */
function withEarlier(told: Conversation | undefined, messages: ChatMessage[]): ChatMessage[] {
  const head = messages[0]?.role === 'system' ? 1 : 0;
  return told ? [...messages.slice(0, head), ...told.messages, ...messages.slice(head)] : messages;
}

function chatMessage({ role, content }: Turn): ChatMessage {
  if (role !== 'tool') return { role, content };
  throw new HeamsError('the benchmark gave the agent a conversation with a tool turn', {
    code: 'agent_bad_turn',
    expected: 'turns of system, user and assistant',
    found: 'a turn of a tool, which no model takes without the call it answers',
  });
}

async function answerOnce(model: ChatModel, messages: ChatMessage[], call: CallContext): Promise<ToolOutcome> {
  const reply = await model.generate({ messages }, call);
  return { reply, recalls: [], toolCalls: [], warnings: reply.warnings };
}
