import { z } from 'zod';
import type { DefencePlugin } from '../contracts/plugin.ts';
import { namingShape } from '../schema/naming.ts';

const schema = z.strictObject({
  ...namingShape,
  defence: z.literal('recorded'),
  /** What the arm was defended by when its messages were written; `heams grade` writes this. */
  run: z.strictObject({ run_id: z.string().min(1), kind: z.string().min(1) }),
});
export type RecordedDefenceOptions = z.infer<typeof schema>;

/** Stands in for the defence of an earlier run: what it did is in the recorded replies, and is not done again. */
export const recordedDefence: DefencePlugin<RecordedDefenceOptions> = {
  name: 'recorded',
  summary: 'does nothing: stands in for the defence of an earlier run, which is in the recorded replies',
  needs: 'nothing',
  schema,
  identity: ({ run }) => ({ run_id: run.run_id }),
  create: async ({ name, run }) => ({ name: name ?? 'recorded', replays: run.kind, guard: (agent) => agent }),
};
