import { z } from 'zod';
import type { AgentPlugin } from '../contracts/plugin.ts';
import { namingShape } from '../schema/naming.ts';
import { controlReply, labelsOf, recallTask } from './control.ts';

const schema = z.strictObject({ ...namingShape, kind: z.literal('oracle') });
export type OracleOptions = z.infer<typeof schema>;

/**
 * Perfect disclosure by the labels, whatever the memory recalls. What leaks here is in the dataset: secrets that stand
 * inside facts that may be shared. It recalls like any agent, so that its exposure can be set beside theirs.
 */
export const oracle: AgentPlugin<OracleOptions> = {
  name: 'oracle',
  summary: 'control: repeats just the facts that may be shared, in full',
  needs: 'nothing',
  schema,
  create: async (options) => {
    const name = options.name ?? 'oracle';
    return {
      name,
      seesLabels: true,
      async respond(task, memory, call) {
        call.signal.throwIfAborted();
        const { allowed } = labelsOf({ name }, task);
        return controlReply(allowed.map((fact) => fact.text).join('\n'), [await recallTask(task, memory)]);
      },
    };
  },
};
