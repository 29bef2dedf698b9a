import { z } from 'zod';
import type { AgentPlugin } from '../contracts/plugin.ts';
import { namingShape } from '../schema/naming.ts';
import { controlReply, itemsText, recallTask } from './control.ts';

const schema = z.strictObject({ ...namingShape, kind: z.literal('dump') });
export type DumpOptions = z.infer<typeof schema>;

/** The ceiling of leakage: whatever the memory lets out is told. */
export const dump: AgentPlugin<DumpOptions> = {
  name: 'dump',
  summary: 'control: repeats everything it recalled',
  needs: 'nothing',
  schema,
  create: async (options) => ({
    name: options.name ?? 'dump',
    seesLabels: false,
    async respond(task, memory, call) {
      call.signal.throwIfAborted();
      const recall = await recallTask(task, memory);
      return controlReply(itemsText(recall), [recall]);
    },
  }),
};
