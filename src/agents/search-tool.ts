import { z } from 'zod';
import type { AgentMemory } from '../contracts/agent.ts';
import type { CallContext } from '../contracts/call.ts';
import type { ChatMessage, ChatModel, ChatReply, ToolRequest, ToolSpec } from '../contracts/model.ts';
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
  const outcome: Omit<ToolOutcome, 'reply'> = { recalls: [], toolCalls: [], warnings: [] };
  for (;;) {
    const spent = outcome.toolCalls.length >= maxToolCalls;
    const request = { messages: [...messages], tools: [searchTool], ...(spent ? { toolChoice: 'none' as const } : {}) };
    const reply = await model.generate(request, call);
    outcome.warnings.push(...reply.warnings);
    if (spent || reply.toolRequests.length === 0) return { ...outcome, reply };
    messages.push({ role: 'assistant', content: reply.text, toolRequests: reply.toolRequests });
    for (const asked of reply.toolRequests) {
      const { content, recall } =
        outcome.toolCalls.length < maxToolCalls
          ? await answer(asked, memory)
          : { content: `No result: the limit of ${maxToolCalls} calls is reached.`, recall: undefined };
      if (recall) outcome.recalls.push(recall);
      outcome.toolCalls.push({ name: asked.name, input: asked.input, output: content });
      messages.push({ role: 'tool', id: asked.id, name: asked.name, content });
    }
  }
}

async function answer(asked: ToolRequest, memory: AgentMemory): Promise<{ content: string; recall?: Recall }> {
  if (asked.name !== searchTool.name) {
    return { content: `No result: there is no tool "${asked.name}". The only tool is ${searchTool.name}.` };
  }
  const input = inputSchema.safeParse(asked.input);
  if (!input.success) return { content: 'No result: the input must be {"query": "<what to look for>"}.' };
  const recall = await memory.scope.search(input.data.query, memory.topK);
  return { content: memoriesText(recall.items) || 'Nothing found.', recall };
}
