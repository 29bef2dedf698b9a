import type { CallContext } from '../../contracts/call.ts';
import type { MemoryTool } from '../../contracts/memory.ts';
import type { ChatMessage, ChatModel } from '../../contracts/model.ts';
import { HeamsError } from '../../lib/errors.ts';
import { wholeReply } from '../memory-llm.ts';

export interface NoteKeeping {
  model: ChatModel;
  /** What the model is told, the facts among it. */
  messages: readonly ChatMessage[];
  tools: readonly MemoryTool[];
  maxToolCalls: number;
  call: CallContext;
}

/**
 * Lets a model write notes with the tools until it says that it is done.
 *
 * @throws HeamsError `memory_notes_unfinished` where it wants more than `maxToolCalls` calls: notes of half the facts
 *   would make a limit look like forgetting. What `wholeReply` throws.
 */
export async function keepNotes({ model, messages: told, tools, maxToolCalls, call }: NoteKeeping): Promise<void> {
  const messages = [...told];
  const specs = tools.map(({ spec }) => spec);
  let calls = 0;
  for (;;) {
    const reply = await wholeReply(model, { messages: [...messages], tools: specs }, call);
    if (reply.toolRequests.length === 0) return;
    messages.push({ role: 'assistant', content: reply.text, toolRequests: reply.toolRequests });
    for (const { id, name, input } of reply.toolRequests) {
      calls += 1;
      if (calls > maxToolCalls) throw unfinished(model.id, maxToolCalls);
      const tool = tools.find(({ spec }) => spec.name === name);
      const names = specs.map((spec) => spec.name).join(', ');
      const content = tool
        ? (await tool.run(input)).content
        : `Error: there is no tool "${name}". The tools are ${names}.`;
      messages.push({ role: 'tool', id, name, content });
    }
  }
}

function unfinished(modelId: string, limit: number): HeamsError {
  return new HeamsError(`${modelId}: it was still writing notes after ${limit} calls of tools`, {
    code: 'memory_notes_unfinished',
    hint: 'raise max_tool_calls in the memory file',
  });
}
