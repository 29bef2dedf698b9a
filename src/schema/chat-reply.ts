import { z } from 'zod';
import { json } from './json.ts';

const tokens = z.int().nonnegative().exactOptional();

/** A model's reply as the response cache and the journal of calls keep it. */
export const chatReplySchema = z.strictObject({
  text: z.string(),
  toolRequests: z.array(
    z.strictObject({ id: z.string(), name: z.string(), input: json, providerMetadata: json.exactOptional() }),
  ),
  finishReason: z.enum(['stop', 'cut_off', 'refused', 'tool_calls', 'other']),
  usage: z.strictObject({ inputTokens: tokens, outputTokens: tokens, cachedInputTokens: tokens }),
  modelVersion: z.string().exactOptional(),
  warnings: z.array(z.string()),
});
