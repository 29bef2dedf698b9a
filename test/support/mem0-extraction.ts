import type { ChatBody } from './loopback-chat.ts';

/** Messages of the conversation that mem0 asks to extract memories from, in order. */
export function newMessages({ messages }: Pick<ChatBody, 'messages'>): string[] {
  const prompt = messages.at(-1)?.content ?? '';
  const section = /## New Messages\n([\s\S]*?)\n\n## Observation Date/.exec(prompt)?.[1] ?? '';
  return section
    .split(/^user: /m)
    .slice(1)
    .map((text) => text.replace(/\n$/, ''));
}

/** A model that extracts every message as one memory, word for word. */
export const verbatimExtraction = (body: ChatBody): string =>
  JSON.stringify({
    memory: newMessages(body).map((text, i) => ({
      id: String(i),
      text,
      attributed_to: 'user',
      linked_memory_ids: [],
    })),
  });
