import { z } from 'zod';
import type { DefencePlugin } from '../contracts/plugin.ts';
import { template } from '../lib/template.ts';
import { namingShape } from '../schema/naming.ts';
import { guardedAgent, withGuidance } from './guarded-agent.ts';

const schema = z.strictObject({
  ...namingShape,
  defence: z.literal('privacy_prompt'),
  /** The words, a Liquid template over what the benchmark offers to agents. */
  prompt: z.string().min(1),
});
export type PrivacyPromptOptions = z.infer<typeof schema>;

/** Tells the agent to mind privacy, in a system turn before the task. An agent that asks no model is not moved by it. */
export const privacyPrompt: DefencePlugin<PrivacyPromptOptions> = {
  name: 'privacy_prompt',
  summary: 'tells the agent to mind privacy, in a system turn before the task',
  needs: 'nothing',
  schema,
  templates: ({ prompt }, offered) => [{ path: ['prompt'], source: prompt, variables: offered }],
  async create(options) {
    const prompt = template(options.prompt);
    return {
      name: options.name ?? 'privacy_prompt',
      guard: (agent) =>
        guardedAgent(agent, {
          keepsMessage: true,
          respond: (task, memory, call) =>
            agent.respond(withGuidance(task, prompt.render({ ...task.variables })), memory, call),
        }),
    };
  },
};
