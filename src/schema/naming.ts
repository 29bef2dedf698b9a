import { z } from 'zod';

/** What every agent and memory file may say about itself. */
export const namingShape = {
  name: z.string().min(1).optional(),
  description: z.string().optional(),
} as const;
