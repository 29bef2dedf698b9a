import { z } from 'zod';
import { json } from './json.ts';
import { turnSchema } from './record.ts';

/**
 * What HEAMS and an agent outside of it say to each other, whatever carries it: `http` posts a request and reads the
 * reply, `command` writes a line and reads a frame. docs/agent-protocol.md describes it for those who write agents.
 */
export const AGENT_PROTOCOL = 1;

const count = z.int().nonnegative();
const protocol = z.literal(AGENT_PROTOCOL);
const name = z.string().min(1);

const toolSpecSchema = z.strictObject({
  name,
  description: z.string(),
  /** JSON schema of the input object. */
  input_schema: z.record(z.string(), json),
});

const toolCallSchema = z.strictObject({ id: name, name, input: json });

/** One round of tool calls that the agent asked for, and what each gave. */
const stepSchema = z.strictObject({
  tool_calls: z.array(toolCallSchema).min(1),
  /** In the order of the calls. */
  results: z.array(z.strictObject({ id: name, content: z.string() })),
  /** What the agent handed over with its calls, as it was. */
  state: json.exactOptional(),
});
export type AgentStep = z.infer<typeof stepSchema>;

const common = {
  protocol,
  /** Unique to the request; a request that is sent again has the same one. */
  id: name,
  /** The sample in its arm and repeat; nothing of one scope may reach another. */
  scope: name,
};

const respondRequestSchema = z.strictObject({
  ...common,
  type: z.literal('respond'),
  /** The conversation so far; ends with the user's turn to answer. */
  turns: z.array(turnSchema).min(1),
  /** With `memory_strategy: inject`: what the memory recalled for the task, best first. */
  memories: z.array(z.string()).exactOptional(),
  /** With `memory_strategy: tool`: what the agent may ask HEAMS to call. */
  tools: z.array(toolSpecSchema).exactOptional(),
  /** With `tools`: how many calls are left; at 0 the agent must answer. */
  tool_calls_left: count.exactOptional(),
  /** With `tools`: the rounds so far. */
  steps: z.array(stepSchema).exactOptional(),
  variables: z.record(z.string(), z.string()).exactOptional(),
  /** With `backend: own_memory`: how many `tell` requests this scope has had. */
  told: count.exactOptional(),
});

const tellRequestSchema = z.strictObject({
  ...common,
  type: z.literal('tell'),
  session: name,
  /** When it is said, ISO 8601 in UTC. */
  at: z.iso.datetime().exactOptional(),
  /** The user's turn that tells facts. */
  turns: z.array(turnSchema).min(1),
});

const forgetRequestSchema = z.strictObject({ ...common, type: z.literal('forget') });

/** Published for who writes an agent; HEAMS itself only builds requests. */
export const agentRequestSchema = z.discriminatedUnion('type', [
  respondRequestSchema,
  tellRequestSchema,
  forgetRequestSchema,
]);
export type AgentRequest = z.infer<typeof agentRequestSchema>;
export type RespondRequest = z.infer<typeof respondRequestSchema>;

/** What the agent says that it spent on this request. */
const usageSchema = z.strictObject({
  /** Model calls; 1 where it does not say. */
  calls: count.exactOptional(),
  input_tokens: count.exactOptional(),
  output_tokens: count.exactOptional(),
  cost_usd: z.number().nonnegative().exactOptional(),
});
export type AgentUsage = z.infer<typeof usageSchema>;

const inReply = {
  protocol: protocol.exactOptional(),
  /** The request's; a `command` agent must give it. */
  id: z.string().exactOptional(),
};
const answered = {
  ...inReply,
  usage: usageSchema.exactOptional(),
  warnings: z.array(z.string()).exactOptional(),
};

const messageReplySchema = z.strictObject({
  ...answered,
  message: z.string(),
  /** What the agent's model was asked, where the agent shows it. */
  prompt: z.array(turnSchema).exactOptional(),
  /** Of an agent with its own memory: what that memory gave it for this task. */
  recalled: z.array(z.string()).exactOptional(),
  reasoning: z.string().exactOptional(),
  model_version: z.string().exactOptional(),
  finish_reason: z.enum(['stop', 'cut_off', 'refused', 'other']).exactOptional(),
});
export type MessageReply = z.infer<typeof messageReplySchema>;

const toolsReplySchema = z.strictObject({
  ...answered,
  tool_calls: z.array(toolCallSchema).min(1),
  /** Comes back in the step, for an agent that keeps nothing between requests. */
  state: json.exactOptional(),
});
export type ToolsReply = z.infer<typeof toolsReplySchema>;

const toldReplySchema = z.strictObject({
  ...answered,
  told: z.literal(true),
  /** What the assistant answered to being told. */
  message: z.string().exactOptional(),
});

const forgottenReplySchema = z.strictObject({ ...inReply, forgotten: z.literal(true) });

const errorReplySchema = z.strictObject({
  ...inReply,
  error: z.strictObject({ code: name, message: z.string() }),
});
export type ErrorReply = z.infer<typeof errorReplySchema>;

/** The schema of each kind of reply, by the key that gives the kind away. */
export const agentReplySchemas = {
  message: messageReplySchema,
  tool_calls: toolsReplySchema,
  told: toldReplySchema,
  forgotten: forgottenReplySchema,
  error: errorReplySchema,
} as const;
