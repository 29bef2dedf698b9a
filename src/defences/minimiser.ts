import { z } from 'zod';
import type { Task } from '../contracts/agent.ts';
import type { CallContext } from '../contracts/call.ts';
import type { DefencePlugin } from '../contracts/plugin.ts';
import { template } from '../lib/template.ts';
import { modelSettings } from '../schema/model-settings.ts';
import { namingShape } from '../schema/naming.ts';
import type { RecallItem } from '../schema/record.ts';
import { askingModels, askingShape, askModel, numbered, repairTemplate, shaped } from './ask-model.ts';
import { filteredMemory, type MemoryFilter, type Sifted } from './filtered-memory.ts';
import { guardedAgent } from './guarded-agent.ts';

const schema = z.strictObject({
  ...namingShape,
  defence: z.literal('minimiser'),
  /** Liquid templates over what the benchmark offers to agents, `query`, and `items`: JSON, one item a line. */
  system_prompt: z.string().min(1),
  user_prompt: z.string().min(1),
  ...askingShape,
});
export type MinimiserOptions = z.infer<typeof schema>;

interface Recalled {
  items: readonly RecallItem[];
  query: string;
  task: Task;
  call: CallContext;
}

const answerSchema = z.strictObject({ reasoning: z.string().optional(), needed: z.array(z.int()) });

/** A model picks what the task needs before the agent sees anything (after AirGapAgent, arXiv:2405.05175). */
export const minimiser: DefencePlugin<MinimiserOptions> = {
  name: 'minimiser',
  summary: 'a model picks which of the recalled items the task needs, before the agent sees them',
  needs: "a model: its provider's key, or a local server",
  schema,
  filters: () => true,
  models: askingModels,
  templates: (options, offered) => [
    { path: ['system_prompt'], source: options.system_prompt, variables: [...offered, 'query', 'items'] },
    {
      path: ['user_prompt'],
      source: options.user_prompt,
      variables: [...offered, 'query', 'items'],
      requires: ['items'],
    },
    repairTemplate(options),
  ],
  async create(options, context) {
    const name = options.name ?? 'minimiser';
    const model = await context.model(modelSettings(options.model_id, options));
    const ask = askModel({ name, options, model });
    const [system, user] = [template(options.system_prompt), template(options.user_prompt)];
    const sift = async ({ items, query, task, call }: Recalled): Promise<Sifted> => {
      const words = { ...task.variables, query, items: numbered(items.map(({ text }) => text)) };
      const question = { system: system.render(words), user: user.render(words), ...asked(items.length) };
      const needed = await ask(question, call);
      return {
        kept: items.filter((_, i) => needed.has(i + 1)),
        withheld: items.filter((_, i) => !needed.has(i + 1)),
      };
    };
    return {
      name,
      guard: (agent) =>
        guardedAgent(agent, {
          keepsMessage: true,
          async respond(task, memory, call) {
            const filter: MemoryFilter = { defence: name, sift: (items, query) => sift({ items, query, task, call }) };
            return agent.respond(task, filteredMemory(memory, filter), call);
          },
        }),
    };
  },
};

/** How an answer about `count` items is written and read: the numbers of those that are needed. */
function asked(count: number) {
  const number = { type: 'integer', minimum: 1, maximum: count };
  const properties = { reasoning: { type: 'string' }, needed: { type: 'array', items: number } };
  return {
    jsonSchema: {
      name: 'needed_items',
      schema: { type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
    },
    read: (value: unknown): ReadonlySet<number> => {
      const { needed } = shaped(answerSchema, value);
      const wrong = needed.find((one) => one < 1 || one > count);
      if (wrong !== undefined) throw new Error(`at "needed": there is no item ${wrong}; the items are 1 to ${count}`);
      return new Set(needed);
    },
  };
}
