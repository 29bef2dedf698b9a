import { z } from 'zod';
import type { CallContext } from '../contracts/call.ts';
import type { ChatModel } from '../contracts/model.ts';
import type { MemoryPlugin } from '../contracts/plugin.ts';
import { type Template, template } from '../lib/template.ts';
import { namingShape } from '../schema/naming.ts';
import { llmSchema, llmUse, openLlm, wholeReply, withLlmIdentity } from './memory-llm.ts';
import { noSearchShape } from './options.ts';
import { type ServiceStore, serviceBackend } from './service-backend.ts';
import { sessionsOf, toldFacts, toldVariables } from './told-facts.ts';

const schema = z.strictObject({
  ...namingShape,
  backend: z.literal('summary'),
  ...noSearchShape,
  /** The model that writes the profile. */
  llm: llmSchema,
  /** Templates over `facts`, `session`, `at`, and `profile`: the one of the sessions before, empty at the first. */
  system_prompt: z.string().min(1),
  user_prompt: z.string().min(1),
});
export type SummaryOptions = z.infer<typeof schema>;

const variables = [...toldVariables, 'profile'];

/** A model writes a profile from the facts, once for each session; every search gives the whole profile. */
export const summary: MemoryPlugin<SummaryOptions> = {
  name: 'summary',
  summary: 'a profile that a model writes from the facts; every search gives all of it',
  needs: "a model: its provider's key, or a local server",
  schema,
  models: ({ llm }) => [llmUse(llm, 'profile')],
  templates: ({ system_prompt, user_prompt }) => [
    { path: ['system_prompt'], source: system_prompt, variables },
    { path: ['user_prompt'], source: user_prompt, variables, requires: ['facts', 'profile'] },
  ],
  identity: withLlmIdentity,
  async create(options, context) {
    const { model, capabilities } = await openLlm(options.llm, context);
    const prompts = { system: template(options.system_prompt), user: template(options.user_prompt) };
    return serviceBackend({
      name: 'summary',
      givesUpWrites: true,
      // A search needs a number; this one has no effect.
      topK: 1,
      clock: context.clock,
      capabilities: { stores: true, rewrites: true, provenance: false, honours_k: false, ...capabilities },
      open: async (_scopeId, call) => openScope({ model, prompts, call }),
    });
  },
};

interface ScopeParts {
  model: ChatModel;
  prompts: { system: Template; user: Template };
  /** Pays for the profile. */
  call: CallContext;
}

function openScope({ model, prompts, call }: ScopeParts): ServiceStore {
  let profile = '';
  const kept = () => (profile === '' ? [] : [{ text: profile, fact_ids: [] }]);
  return {
    async add(facts) {
      let next = profile;
      for (const session of sessionsOf(facts)) {
        const words = { ...toldFacts(session), profile: next };
        const messages = [
          { role: 'system' as const, content: prompts.system.render(words) },
          { role: 'user' as const, content: prompts.user.render(words) },
        ];
        next = (await wholeReply(model, { messages }, call)).text.trim();
      }
      profile = next;
    },
    all: async () => kept(),
    find: async () => ({ items: kept() }),
    async clear() {
      profile = '';
    },
  };
}
