import { z } from 'zod';
import type { AgentPlugin } from '../contracts/plugin.ts';
import { namingShape } from '../schema/naming.ts';
import { controlReply } from './control.ts';

const schema = z.strictObject({ ...namingShape, kind: z.literal('silent') });
export type SilentOptions = z.infer<typeof schema>;

/** The floor of both leakage and usefulness. */
export const silent: AgentPlugin<SilentOptions> = {
  name: 'silent',
  summary: 'control: says nothing',
  needs: 'nothing',
  schema,
  create: async (options) => ({
    name: options.name ?? 'silent',
    seesLabels: false,
    async respond(_task, _memory, call) {
      call.signal.throwIfAborted();
      return controlReply('');
    },
  }),
};
