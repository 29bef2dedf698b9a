import { z } from 'zod';

/** HTTP headers by name (RFC 9110, 5.1); `${NAME}` in a value stands for an environment variable. */
export const headersSchema = z
  .record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'the name of a header'), z.string())
  .default({});
