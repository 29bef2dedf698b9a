import { z } from 'zod';
import type { MemoryBackend, MemoryCapabilities, MemoryScope } from '../contracts/memory.ts';
import type { MemoryPlugin } from '../contracts/plugin.ts';
import { namingShape } from '../schema/naming.ts';
import type { Recall, StoredItem } from '../schema/record.ts';
import { RecordIndex } from '../store/record-index.ts';
import { noSearchShape } from './options.ts';

const schema = z.strictObject({
  ...namingShape,
  backend: z.literal('recorded'),
  ...noSearchShape,
  /** One arm of an earlier run; `heams grade` writes this. Without it, the memory is another system's. */
  run: z
    .strictObject({
      records: z.string().min(1),
      run_id: z.string().min(1),
      backend: z.string().min(1),
      provenance: z.boolean(),
    })
    .optional(),
});
export type RecordedMemoryOptions = z.infer<typeof schema>;

/** The name under which records of another system's memory are filed. */
export const EXTERNAL = 'external';
/** The agent's own memory: its records say nothing of what it held either. */
const OWN = 'own_memory';

/** Stands in for a memory that was asked before: what it held is told from records, or not known at all. */
export const recordedMemory: MemoryPlugin<RecordedMemoryOptions> = {
  name: 'recorded',
  summary: 'no memory of its own: stands in for that of another system, or of an earlier run',
  needs: 'nothing',
  schema,
  identity: ({ run }) => (run ? { run_id: run.run_id } : {}),
  inlined: (options, resolve) =>
    options.run ? { ...options, run: { ...options.run, records: resolve(options.run.records) } } : options,
  async create({ run }, context) {
    if (!run) return backendOf({ name: EXTERNAL, provenance: true, stored: async () => undefined, external: true });
    const index = await RecordIndex.open(context.resolve(run.records));
    const stored = async (salt: string) => (await index.get(salt))?.stored;
    const external = run.backend === EXTERNAL || run.backend === OWN;
    return backendOf({ name: run.backend, provenance: run.provenance, stored, external });
  },
};

interface RecordedBackend {
  name: string;
  provenance: boolean;
  external: boolean;
  /** What was stored for a sample and repeat (`saltOf`). */
  stored(salt: string): Promise<StoredItem[] | undefined>;
}

/** A backend that takes everything, keeps nothing, and finds nothing: what was recalled stands in the replies. */
function backendOf({ name, provenance, external, stored }: RecordedBackend): MemoryBackend {
  const capabilities: MemoryCapabilities = {
    stores: false,
    rewrites: true,
    provenance,
    honours_k: false,
    needs_network: false,
    needs_key: false,
    ...(external ? { external: true as const } : {}),
  };
  return {
    name,
    capabilities,
    // A search needs a number; this one has no effect.
    topK: 1,
    async open(_scopeId, call): Promise<MemoryScope> {
      call.signal.throwIfAborted();
      return {
        write: async () => {},
        ready: async (signal) => signal.throwIfAborted(),
        search: async (query): Promise<Recall> => ({ query, items: [] }),
        list: async () => (await stored(call.salt)) ?? [],
        dispose: async () => {},
      };
    },
    close: async () => {},
  };
}
