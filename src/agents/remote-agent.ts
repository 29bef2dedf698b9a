import type { Agent, AgentMemory, Task } from '../contracts/agent.ts';
import type { CallContext, Clock } from '../contracts/call.ts';
import type { MemoryTool } from '../contracts/memory.ts';
import { HeamsError } from '../lib/errors.ts';
import type { AgentStep, MessageReply, ToolsReply } from '../schema/agent-protocol.ts';
import type { Recall, Reply, ToolCall } from '../schema/record.ts';
import { ownMemoryOf } from './own-memory-backend.ts';
import { type Asked, type RemoteClient, type RemoteClientOptions, remoteClient } from './remote-client.ts';
import { badReply } from './remote-errors.ts';
import type { RemoteOptions } from './remote-options.ts';
import { answer, toolsOf } from './search-tool.ts';

const DEFAULT_TOOL_CALLS = 8;

export interface RemoteAgentParts extends RemoteClientOptions {
  options: RemoteOptions;
  clock: Clock;
  needsNetwork: boolean;
}

/** An agent outside of this process. With `memory_strategy: none` it may bring its own memory (`backend: own_memory`). */
export function remoteAgent(parts: RemoteAgentParts): Agent {
  const { name, options, clock, needsNetwork } = parts;
  const client = remoteClient(parts);
  /** By scope, how many times the agent's own memory was told something. */
  const told = new Map<string, number>();
  return {
    name,
    seesLabels: false,
    ...(options.memory_strategy === 'none'
      ? { ownMemory: remoteOwnMemory({ client, told, clock, needsNetwork }) }
      : {}),
    respond: (task, memory, call) => respond({ name, options, client, told, task, memory, call }),
    close: () => client.close(),
  };
}

interface Exchange {
  name: string;
  options: RemoteOptions;
  client: RemoteClient;
  told: ReadonlyMap<string, number>;
  task: Task;
  memory: AgentMemory;
  call: CallContext;
}

async function respond(exchange: Exchange): Promise<Reply> {
  const { options, client, told, task, memory, call } = exchange;
  call.signal.throwIfAborted();
  const strategy = options.memory_strategy;
  const injected = strategy === 'inject' ? [await memory.scope.search(task.query, memory.topK)] : [];
  const variables = Object.entries(task.variables).filter(([name]) => options.variables.includes(name));
  const count = told.get(memory.scopeId);
  const asked: Asked & { type: 'respond' } = {
    type: 'respond',
    scope: memory.scopeId,
    turns: [...task.turns],
    ...(injected[0] ? { memories: injected[0].items.map(({ text }) => text) } : {}),
    ...(variables.length > 0 ? { variables: Object.fromEntries(variables) } : {}),
    ...(count === undefined ? {} : { told: count }),
  };
  if (strategy === 'tool') return converse(exchange, asked);
  const { reply, warnings } = await client.ask(asked, ['message'], call);
  return replyOf(exchange, { reply, recalls: injected, toolCalls: [], warnings });
}

/** Runs the tools that the agent asks for and asks again, until it answers. It need not keep anything in between. */
async function converse(exchange: Exchange, asked: Asked & { type: 'respond' }): Promise<Reply> {
  const { options, client, memory, call } = exchange;
  const limit = options.max_tool_calls ?? DEFAULT_TOOL_CALLS;
  const tools = toolsOf(memory);
  const specs = tools.map(({ spec: { name, description, inputSchema } }) => ({
    name,
    description,
    input_schema: inputSchema,
  }));
  const steps: AgentStep[] = [];
  const outcome = { recalls: [] as Recall[], toolCalls: [] as ToolCall[], warnings: [] as string[] };
  for (;;) {
    const left = Math.max(0, limit - outcome.toolCalls.length);
    const request = { ...asked, tools: specs, tool_calls_left: left, steps: [...steps] };
    const answered = await client.ask(request, ['message', 'tool_calls'], call);
    outcome.warnings.push(...answered.warnings);
    if (answered.kind === 'message') return replyOf(exchange, { ...outcome, reply: answered.reply });
    if (left === 0) throw askedTooMuch(exchange.name, limit);
    steps.push(await stepOf(answered.reply, { tools, left, limit, outcome }));
  }
}

interface Round {
  tools: readonly MemoryTool[];
  left: number;
  limit: number;
  outcome: { recalls: Recall[]; toolCalls: ToolCall[] };
}

/** Calls beyond the limit are answered in words, as a model's are. */
async function stepOf({ tool_calls, state }: ToolsReply, { tools, left, limit, outcome }: Round): Promise<AgentStep> {
  const results: AgentStep['results'] = [];
  for (const [i, { id, name, input }] of tool_calls.entries()) {
    const { content, recall } =
      i < left
        ? await answer({ name, input }, tools)
        : { content: `No result: the limit of ${limit} calls is reached.`, recall: undefined };
    if (recall) outcome.recalls.push(recall);
    outcome.toolCalls.push({ name, input, output: content });
    results.push({ id, content });
  }
  return { tool_calls, results, ...(state === undefined ? {} : { state }) };
}

interface Outcome {
  reply: MessageReply;
  recalls: Recall[];
  toolCalls: ToolCall[];
  warnings: readonly string[];
}

function replyOf({ name, task, memory }: Exchange, { reply, recalls, toolCalls, warnings }: Outcome): Reply {
  const { message, prompt = [], recalled, reasoning, model_version, finish_reason } = reply;
  const external = memory.capabilities.external === true;
  if (recalled && !external) throw badReply(name, 'the reply has "recalled", and HEAMS knows what it recalled itself');
  if (finish_reason === 'cut_off') throw cutOff(name, message);
  const own: Recall[] = recalled
    ? [{ query: task.query, items: recalled.map((text) => ({ text, fact_ids: [] })) }]
    : [];
  return {
    message,
    prompt,
    recalls: [...recalls, ...own],
    tool_calls: toolCalls,
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(finish_reason === undefined ? {} : { finish_reason }),
    ...(model_version === undefined ? {} : { model_version }),
    warnings: [...new Set(warnings)],
    ...(external ? { external: { recalls_known: recalled !== undefined } } : {}),
  };
}

/** Half a message is nobody's message; a model's that ended at its limit fails in the same way. */
function cutOff(name: string, message: string): HeamsError {
  return new HeamsError(`agent "${name}": the message ended at the token limit, after ${message.length} characters`, {
    code: 'agent_cut_off',
    hint: "raise the limit of the agent's model",
  });
}

function askedTooMuch(name: string, limit: number): HeamsError {
  return new HeamsError(`agent "${name}" asked for tools after its ${limit} calls, in place of an answer`, {
    code: 'agent_tool_limit',
    expected: 'a message where tool_calls_left is 0',
    hint: 'raise max_tool_calls in the agent file, or mend the agent',
  });
}

interface OwnMemoryParts {
  client: RemoteClient;
  told: Map<string, number>;
  clock: Clock;
  needsNetwork: boolean;
}

/** Facts are told as turns of the user, and the scope is forgotten before and after. */
function remoteOwnMemory({ client, told, clock, needsNetwork }: OwnMemoryParts) {
  return ownMemoryOf({
    clock,
    needsNetwork,
    async begin(scope, call) {
      client.hold(scope);
      try {
        await client.ask({ type: 'forget', scope }, ['forgotten'], call);
      } catch (error) {
        client.letGo(scope);
        throw error;
      }
      told.set(scope, 0);
    },
    async tell(scope, { session, at, content }, call) {
      const turns = [{ role: 'user' as const, content }];
      const time = at === undefined ? {} : { at };
      await client.ask({ type: 'tell', scope, session, ...time, turns }, ['told'], call);
      told.set(scope, (told.get(scope) ?? 0) + 1);
    },
    async forget(scope, call) {
      told.delete(scope);
      try {
        await client.ask({ type: 'forget', scope }, ['forgotten'], call);
      } finally {
        client.letGo(scope);
      }
    },
  });
}
