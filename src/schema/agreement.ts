import { z } from 'zod';

const count = z.int().nonnegative();
const coefficient = z.number().min(-1).max(1);

/** A coefficient of agreement (Cohen's kappa, Krippendorff's alpha) with its 95 % interval; or why there is none. */
export const agreementCoefficientSchema = z.discriminatedUnion('defined', [
  z.strictObject({ defined: z.literal(true), value: coefficient, low: coefficient, high: coefficient, items: count }),
  z.strictObject({ defined: z.literal(false), reason: z.string().min(1), items: count }),
]);
export type AgreementCoefficient = z.infer<typeof agreementCoefficientSchema>;
