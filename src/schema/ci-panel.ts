import { z } from 'zod';
import { agreementCoefficientSchema } from './agreement.ts';
import { json } from './json.ts';

const count = z.int().nonnegative();

/** What judges are compared about: whether a secret leaked, whether a field was communicated, whether the message helped. */
export const panelSides = ['secret', 'field', 'helpful'] as const;
export type PanelSide = (typeof panelSides)[number];

const pairCountsSchema = z.strictObject({
  both_yes: count,
  both_no: count,
  first_only: count,
  second_only: count,
  /** One of the two has no verdict. */
  not_compared: count,
  kappa: agreementCoefficientSchema,
});

const majorityCountsSchema = z.strictObject({ yes: count, no: count, tie: count, too_few: count });
export type MajorityCounts = z.infer<typeof majorityCountsSchema>;

const bySide = <S extends z.ZodType>(schema: S) => z.strictObject({ secret: schema, field: schema, helpful: schema });

/** Votes of a judge about one disputed item. */
const voteSchema = z.strictObject({ judge: z.string(), says: z.enum(['yes', 'no', 'unjudged']) });

const disputedSchema = z.strictObject({
  sample_id: z.string(),
  repeat: count,
  side: z.enum(panelSides),
  /** The item's key and value; absent for `helpful`, which is about the message as a whole. */
  key: z.string().optional(),
  value: json.optional(),
  votes: z.array(voteSchema),
});
export type DisputedItem = z.infer<typeof disputedSchema>;

/** How several judge models that graded the same messages agree. */
export const panelSchema = z.strictObject({
  /** Judge ids, in the order of the grades. */
  judges: z.array(z.string()).min(2),
  pairs: z.array(z.strictObject({ first: z.string(), second: z.string(), ...bySide(pairCountsSchema).shape })),
  /** Krippendorff's alpha over all judges of the panel, with its interval over groups of samples. */
  alpha: bySide(agreementCoefficientSchema),
  majority: bySide(majorityCountsSchema),
  /** Items about which two judges say different things. The list holds the first of them. */
  disputed: z.strictObject({ ...bySide(count).shape, listed: z.array(disputedSchema) }),
});
export type Panel = z.infer<typeof panelSchema>;
