import { z } from 'zod';
import type { DefencePlugin } from '../contracts/plugin.ts';
import { namingShape } from '../schema/naming.ts';
import { filteredMemory, type MemoryFilter } from './filtered-memory.ts';
import { compileGate, gateShape } from './gate-rules.ts';
import { guardedAgent } from './guarded-agent.ts';

const schema = z.strictObject({ ...namingShape, defence: z.literal('recipient_gate'), ...gateShape });
export type RecipientGateOptions = z.infer<typeof schema>;

/** Rules say which facts may be recalled for whom and for what. No model: what a rule keeps back, no wording lets out. */
export const recipientGate: DefencePlugin<RecipientGateOptions> = {
  name: 'recipient_gate',
  summary: 'rules say which recalled items may be used for which recipient, purpose or domain',
  needs: 'nothing',
  schema,
  filters: () => true,
  // A variable that the benchmark does not offer would never hold: it is told like a wrong one in a prompt.
  templates: ({ rules }, offered) =>
    rules.flatMap(({ when = {} }, i) =>
      Object.keys(when).map((variable) => ({
        path: ['rules', i, 'when', variable],
        source: `{{ ${variable} }}`,
        variables: offered,
      })),
    ),
  identity: (options) => ({ default: options.default, rules: options.rules.map(({ name: _, ...rule }) => rule) }),
  async create(options) {
    const name = options.name ?? 'recipient_gate';
    const gate = compileGate(options);
    return {
      name,
      guard: (agent) =>
        guardedAgent(agent, {
          keepsMessage: true,
          async respond(task, memory, call) {
            const mayPass = gate(task.variables);
            const filter: MemoryFilter = {
              defence: name,
              sift: (items) => ({ kept: items.filter(mayPass), withheld: items.filter((item) => !mayPass(item)) }),
            };
            return agent.respond(task, filteredMemory(memory, filter), call);
          },
        }),
    };
  },
};
