import { z } from 'zod';

/** For the backends that search. */
export const searchShape = { top_k: z.int().positive().default(5) } as const;

/** For the backends that do not: an unknown key would read like a misspelling. */
export const noSearchShape = {
  top_k: z
    .never({ error: 'no top_k: this backend does not search, so there is no number of items to ask for' })
    .optional(),
} as const;
