import { z } from 'zod';

/**
 * What HEAMS and a memory behind an address say to each other. docs/memory-protocol.openapi.yaml describes it for those who
 * write such a memory, and tests hold the two equal.
 */
export const MEMORY_PROTOCOL = 1;

/** `GET /`: what the memory is. Keys that are not known are passed over: a later version may say more. */
export const memoryAboutSchema = z.object({
  name: z.string().min(1),
  version: z.string().exactOptional(),
  protocol: z.int().positive(),
  capabilities: z.object({
    /** It changes what it is given. */
    rewrites: z.boolean(),
    /** Its items name the facts that they came from. */
    provenance: z.boolean(),
    /** A search gives at most `k` items; where not, everything that it holds. */
    honours_k: z.boolean(),
    /** Scopes that may be open at once. */
    max_concurrency: z.int().positive().exactOptional(),
  }),
});
export type MemoryAbout = z.infer<typeof memoryAboutSchema>;

const item = { text: z.string(), fact_ids: z.array(z.string()) } as const;

/** `POST /scopes/{scope}/search` */
export const memoryFoundSchema = z.object({ items: z.array(z.object({ ...item, score: z.number().exactOptional() })) });

/** `GET /scopes/{scope}/items` */
export const memoryListedSchema = z.object({ items: z.array(z.object(item)) });

/** `GET /scopes/{scope}/ready`: 200 with true, or 202 with false. */
export const memoryReadySchema = z.object({ ready: z.boolean() });
