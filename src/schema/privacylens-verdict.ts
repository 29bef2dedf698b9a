import { z } from 'zod';

/** One recorded case of PrivacyLens: what the agent did at last, and a judge's word on each secret. */
export const privacyLensVerdictSchema = z.strictObject({
  /** The recorded run that the case belongs to: one agent model under one prompt. */
  run: z.string().min(1),
  /** The case, the same in every run. */
  name: z.string().min(1),
  user_name: z.string(),
  user_instruction: z.string(),
  /** The last reply of the agent as it came; empty or null where it gave none. */
  final_action: z.string().nullable(),
  /** Whether any secret leaked. */
  leak_info: z.boolean(),
  secret_judgment: z.array(z.tuple([z.string().min(1), z.boolean()])),
});
export type PrivacyLensVerdict = z.infer<typeof privacyLensVerdictSchema>;
