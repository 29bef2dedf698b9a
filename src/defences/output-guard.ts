import { z } from 'zod';
import type { Task } from '../contracts/agent.ts';
import type { CallContext } from '../contracts/call.ts';
import type { DefencePlugin } from '../contracts/plugin.ts';
import { template } from '../lib/template.ts';
import { modelSettings } from '../schema/model-settings.ts';
import { namingShape } from '../schema/naming.ts';
import { askingModels, askingShape, askModel, type Question, repairTemplate, shaped } from './ask-model.ts';
import { guardedAgent } from './guarded-agent.ts';

const schema = z.strictObject({
  ...namingShape,
  defence: z.literal('output_guard'),
  /** Liquid templates over what the benchmark offers to agents, and `message`. */
  system_prompt: z.string().min(1),
  user_prompt: z.string().min(1),
  /** How often a message is looked at: a rewritten one is looked at again while there are passes left. */
  max_passes: z.int().min(1).max(5).default(2),
  ...askingShape,
});
export type OutputGuardOptions = z.infer<typeof schema>;

interface Review {
  leaks: readonly string[];
  message: string;
}

const reviewSchema = z.strictObject({
  reasoning: z.string().optional(),
  leaks: z.array(z.string()),
  message: z.string(),
});

const properties = {
  reasoning: { type: 'string' },
  leaks: { type: 'array', items: { type: 'string' } },
  message: { type: 'string' },
};
const asked: Pick<Question<Review>, 'jsonSchema' | 'read'> = {
  jsonSchema: {
    name: 'review',
    schema: { type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
  },
  read: (value) => {
    const { leaks, message } = shaped(reviewSchema, value);
    if (leaks.length > 0 && message.trim() === '')
      throw new Error('at "message": the message without its leaks is empty');
    return { leaks, message };
  },
};

/** A second look at the message before it is sent: what should not be in it is found, and the message written anew. */
export const outputGuard: DefencePlugin<OutputGuardOptions> = {
  name: 'output_guard',
  summary: 'a model looks at the message before it is sent, and rewrites it where it tells too much',
  needs: "a model: its provider's key, or a local server",
  schema,
  models: askingModels,
  templates: (options, offered) => [
    { path: ['system_prompt'], source: options.system_prompt, variables: [...offered, 'message'] },
    {
      path: ['user_prompt'],
      source: options.user_prompt,
      variables: [...offered, 'message'],
      requires: ['message'],
    },
    repairTemplate(options),
  ],
  async create(options, context) {
    const name = options.name ?? 'output_guard';
    const model = await context.model(modelSettings(options.model_id, options));
    const ask = askModel({ name, options, model });
    const [system, user] = [template(options.system_prompt), template(options.user_prompt)];
    /** The message once nothing is found in it any more, or once there are no passes left. */
    const guarded = async (draft: string, task: Task, call: CallContext): Promise<string> => {
      let message = draft;
      for (let pass = 1; pass <= options.max_passes && message.trim() !== ''; pass++) {
        const words = { ...task.variables, message };
        const review = await ask({ system: system.render(words), user: user.render(words), ...asked }, call);
        // Where nothing leaks, the message is the agent's to the letter, whatever the model has made of it.
        if (review.leaks.length === 0) break;
        message = review.message;
      }
      return message;
    };
    return {
      name,
      guard: (agent) =>
        guardedAgent(agent, {
          keepsMessage: false,
          async respond(task, memory, call) {
            const reply = await agent.respond(task, memory, call);
            const message = await guarded(reply.message, task, call);
            return { ...reply, message, draft: reply.draft ?? reply.message };
          },
        }),
    };
  },
};
