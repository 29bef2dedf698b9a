import { z } from 'zod';

/** What another system recalled: its text, and the keys of the facts that it came from where the system keeps them. */
const recalledSchema = z.union([
  z.string(),
  z.strictObject({ text: z.string(), fact_ids: z.array(z.string()).optional() }),
]);

/** One line of a responses file: the message of another system for one sample. An empty message says nothing. */
export const responseLineSchema = z.strictObject({
  sample_id: z.string().min(1),
  message: z.string(),
  /** Everything that reached the agent. Absent: not known. An empty list: nothing did. */
  recall: z.array(recalledSchema).optional(),
  repeat: z.int().nonnegative().default(0),
  /** The arm that the message belongs to, where a file holds several. */
  experiment: z.string().min(1).optional(),
});
export type ResponseLine = z.infer<typeof responseLineSchema>;
