import { z } from 'zod';
import type { DefencePlugin } from '../contracts/plugin.ts';
import { namingShape } from '../schema/naming.ts';
import type { RecallItem } from '../schema/record.ts';
import { filteredMemory, type MemoryFilter, type Sifted } from './filtered-memory.ts';
import { guardedAgent } from './guarded-agent.ts';
import { identifierKinds, redactIdentifiers } from './identifiers/redact.ts';

const schema = z.strictObject({
  ...namingShape,
  defence: z.literal('redact_identifiers'),
  /** All of them where it is absent. */
  identifiers: z.array(z.enum(identifierKinds)).min(1).default(identifierKinds),
  /** What is redacted: what the agent recalls, what it says, or both. */
  acts_on: z.enum(['recall', 'message', 'both']).default('both'),
});
export type RedactIdentifiersOptions = z.infer<typeof schema>;

/** Strikes out identifiers by their form: no model, and no idea of what a task needs. */
export const redactIdentifiersDefence: DefencePlugin<RedactIdentifiersOptions> = {
  name: 'redact_identifiers',
  summary: 'strikes out e-mail addresses, card, bank account and phone numbers and the like, by their form',
  needs: 'nothing',
  schema,
  filters: ({ acts_on }) => acts_on !== 'message',
  identity: ({ identifiers, acts_on }) => ({ identifiers: [...new Set(identifiers)].sort(), acts_on }),
  async create(options) {
    const { name = 'redact_identifiers', identifiers, acts_on: actsOn } = options;
    const redacted = (text: string) => redactIdentifiers(text, identifiers);
    const filter: MemoryFilter = { defence: name, sift: (items) => redactItems(items, redacted) };
    return {
      name,
      guard: (agent) =>
        guardedAgent(agent, {
          keepsMessage: actsOn === 'recall',
          async respond(task, memory, call) {
            const reply = await agent.respond(
              task,
              actsOn === 'message' ? memory : filteredMemory(memory, filter),
              call,
            );
            if (actsOn === 'recall') return reply;
            return { ...reply, message: redacted(reply.message), draft: reply.draft ?? reply.message };
          },
        }),
    };
  },
};

/** An item with an identifier goes on without it; the item as it was is kept back. */
function redactItems(items: readonly RecallItem[], redacted: (text: string) => string): Sifted {
  const pairs = items.map((item) => ({ item, text: redacted(item.text) }));
  return {
    kept: pairs.map(({ item, text }) => (text === item.text ? item : { ...item, text, rewritten: true as const })),
    withheld: pairs.filter(({ item, text }) => text !== item.text).map(({ item }) => item),
  };
}
