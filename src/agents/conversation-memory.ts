import type { Clock } from '../contracts/call.ts';
import type { OwnMemory } from '../contracts/memory.ts';
import type { ChatMessage, ChatModel } from '../contracts/model.ts';
import type { Recall, RecallItem } from '../schema/record.ts';
import { ownMemoryOf, type Telling } from './own-memory-backend.ts';

/** What a model was told in earlier turns of one conversation, and what it answered. */
export interface Conversation {
  readonly messages: readonly ChatMessage[];
  /** Everything that was told stands before the model, whatever it is asked. */
  recall(query: string): Recall;
}

/**
 * The conversation itself as a model's memory: the user tells facts in earlier turns, the model answers each, and all
 * of it stands before the task. The telling turns go without the agent's instructions, which speak of the task.
 */
export function conversationMemory(model: ChatModel, clock: Clock) {
  const open = new Map<string, { messages: ChatMessage[]; items: RecallItem[] }>();
  const ownMemory: OwnMemory = ownMemoryOf({
    clock,
    needsNetwork: false,
    async begin(scopeId) {
      open.set(scopeId, { messages: [], items: [] });
    },
    async tell(scopeId, telling, call) {
      const conversation = open.get(scopeId);
      if (!conversation) throw new Error(`scope ${scopeId} was not begun`);
      const { messages, items } = conversation;
      messages.push({ role: 'user', content: telling.content });
      const { text } = await model.generate({ messages: [...messages] }, call);
      // Providers refuse an empty turn.
      if (text.trim() !== '') messages.push({ role: 'assistant', content: text });
      items.push(...itemsOf(telling));
    },
    async forget(scopeId) {
      open.delete(scopeId);
    },
  });
  return {
    ownMemory,
    of(scopeId: string): Conversation | undefined {
      const conversation = open.get(scopeId);
      if (!conversation) return undefined;
      const { messages, items } = conversation;
      return { messages, recall: (query) => ({ query, items: [...items] }) };
    },
  };
}

/** A fact each where the turn tells it word for word; the turn as a whole, with all its facts, where it does not. */
function itemsOf({ content, facts }: Telling): RecallItem[] {
  if (facts.every((fact) => content.includes(fact.text))) {
    return facts.map(({ id, text }) => ({ text, fact_ids: [id] }));
  }
  return [{ text: content, fact_ids: facts.map(({ id }) => id) }];
}
