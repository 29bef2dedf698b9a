import { z } from 'zod';

/** Any value that survives a JSON round trip. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export const json: z.ZodType<Json> = z.json() as z.ZodType<Json>;
