import { z } from 'zod';
import type { MemoryPlugin } from '../contracts/plugin.ts';
import { namingShape } from '../schema/naming.ts';
import type { TextIndex } from './index/text-index.ts';
import { indexedBackend } from './indexed-backend.ts';
import { noSearchShape } from './options.ts';

const schema = z.strictObject({ ...namingShape, backend: z.literal('full_context'), ...noSearchShape });
export type FullContextOptions = z.infer<typeof schema>;

/** The ceiling: every fact reaches the agent, in the order of writing, whatever it asks. */
export const fullContext: MemoryPlugin<FullContextOptions> = {
  name: 'full_context',
  summary: 'gives everything back for every query: the ceiling of exposure',
  needs: 'nothing',
  schema,
  create: async () =>
    indexedBackend({
      name: 'full_context',
      // A search needs a number; this one has no effect.
      topK: 1,
      capabilities: { honours_k: false },
      index: everything,
    }),
};

function everything(): TextIndex {
  let size = 0;
  return {
    async add(texts) {
      size += texts.length;
    },
    search: async () => Array.from({ length: size }, (_, position) => ({ position })),
  };
}
