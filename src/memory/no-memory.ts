import { z } from 'zod';
import type { MemoryPlugin } from '../contracts/plugin.ts';
import { namingShape } from '../schema/naming.ts';
import { indexedBackend } from './indexed-backend.ts';
import { noSearchShape } from './options.ts';

const schema = z.strictObject({ ...namingShape, backend: z.literal('no_memory'), ...noSearchShape });
export type NoMemoryOptions = z.infer<typeof schema>;

/** The floor: forgets what it is told. Whatever leaks here did not come from a memory. */
export const noMemory: MemoryPlugin<NoMemoryOptions> = {
  name: 'no_memory',
  summary: 'keeps nothing: the floor that every other backend is compared with',
  needs: 'nothing',
  schema,
  create: async () =>
    indexedBackend({
      name: 'no_memory',
      // A search needs a number; this one has no effect.
      topK: 1,
      capabilities: { stores: false, honours_k: false },
      index: () => ({ add: async () => {}, search: async () => [] }),
    }),
};
