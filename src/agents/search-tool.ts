import { z } from 'zod';
import type { AgentMemory } from '../contracts/agent.ts';
import type { CallContext } from '../contracts/call.ts';
import type { MemoryTool, ToolAnswer } from '../contracts/memory.ts';
import type { ChatMessage, ChatModel, ChatReply, ToolRequest, ToolSpec } from '../contracts/model.ts';
import type { Json } from '../schema/json.ts';
import type { Recall, ToolCall } from '../schema/record.ts';
import { memoriesText } from './memories-text.ts';

/** The tool of `memory_strategy: tool`. Its words are as neutral as they can be: they are part of what is measured. */
export const searchTool: ToolSpec = {
  name: 'search_memory',
  description: "Searches the user's memory and returns the entries that match best.",
  inputSchema: {
    type: 'object',
    properties: { query: { type: 'string', description: 'What to look for, in plain words.' } },
    required: ['query'],
    additionalProperties: false,
  },
};

const inputSchema = z.object({ query: z.string().trim().min(1) });

/** What a model with tools may use: the memory's own tools where it has some, and HEAMS's search where not. */
export function toolsOf(memory: AgentMemory): readonly MemoryTool[] {
  return memory.scope.tools ?? [{ spec: searchTool, run: (input) => search(input, memory) }];
}

export interface ToolConversation {
  model: ChatModel;
  messages: readonly ChatMessage[];
  memory: AgentMemory;
  maxToolCalls: number;
  call: CallContext;
}

export interface ToolOutcome {
  reply: ChatReply;
  recalls: Recall[];
  toolCalls: ToolCall[];
  warnings: string[];
}

/**
 * Lets the model search until it answers. After `maxToolCalls` calls it is asked once more and may not call the tool.
 * A call that makes no sense is answered in words and recorded like any other; a memory that fails is a failure.
 */
export async function converseWithSearch(conversation: ToolConversation): Promise<ToolOutcome> {
  const { model, memory, maxToolCalls, call } = conversation;
  const messages = [...conversation.messages];
  const tools = toolsOf(memory);
  const specs = tools.map(({ spec }) => spec);
  const outcome: Omit<ToolOutcome, 'reply'> = { recalls: [], toolCalls: [], warnings: [] };
  for (;;) {
    const spent = outcome.toolCalls.length >= maxToolCalls;
    const request = { messages: [...messages], tools: specs, ...(spent ? { toolChoice: 'none' as const } : {}) };
    const reply = await model.generate(request, call);
    outcome.warnings.push(...reply.warnings);
    if (spent || reply.toolRequests.length === 0) return { ...outcome, reply };
    messages.push({ role: 'assistant', content: reply.text, toolRequests: reply.toolRequests });
    for (const asked of reply.toolRequests) {
      const { content, recall } =
        outcome.toolCalls.length < maxToolCalls
          ? await answer(asked, tools)
          : { content: `No result: the limit of ${maxToolCalls} calls is reached.`, recall: undefined };
      if (recall) outcome.recalls.push(recall);
      outcome.toolCalls.push({ name: asked.name, input: asked.input, output: content });
      messages.push({ role: 'tool', id: asked.id, name: asked.name, content });
    }
  }
}

/** The answer to one call; a tool that there is not is answered in words. */
export async function answer(
  asked: Pick<ToolRequest, 'name' | 'input'>,
  tools: readonly MemoryTool[],
): Promise<ToolAnswer> {
  const tool = tools.find(({ spec }) => spec.name === asked.name);
  if (tool) return tool.run(asked.input);
  const names = tools.map(({ spec }) => spec.name);
  const others = names.length === 1 ? `The only tool is ${names[0]}.` : `The tools are ${names.join(', ')}.`;
  return { content: `No result: there is no tool "${asked.name}". ${others}` };
}

async function search(given: Json, memory: AgentMemory): Promise<ToolAnswer> {
  const input = inputSchema.safeParse(given);
  if (!input.success) return { content: 'No result: the input must be {"query": "<what to look for>"}.' };
  const recall = await memory.scope.search(input.data.query, memory.topK);
  return { content: memoriesText(recall.items) || 'Nothing found.', recall };
}
