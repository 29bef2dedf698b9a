import { z } from 'zod';
import type { AgentPlugin } from '../contracts/plugin.ts';
import { namingShape } from '../schema/naming.ts';
import { controlReply, itemsText, labelsOf, recallTask } from './control.ts';
import { strikeOut } from './strike-out.ts';

const schema = z.strictObject({ ...namingShape, kind: z.literal('redacted') });
export type RedactedOptions = z.infer<typeof schema>;

/** What a perfect filter of the known secrets would leave: as useful as `dump`, without a verbatim leak. */
export const redacted: AgentPlugin<RedactedOptions> = {
  name: 'redacted',
  summary: 'control: repeats everything it recalled with the known secrets struck out',
  needs: 'nothing',
  schema,
  create: async (options) => {
    const name = options.name ?? 'redacted';
    return {
      name,
      seesLabels: true,
      async respond(task, memory, call) {
        call.signal.throwIfAborted();
        const { secrets } = labelsOf({ name }, task);
        const recall = await recallTask(task, memory);
        return controlReply(strikeOut(itemsText(recall), secrets), [recall]);
      },
    };
  },
};
