import { z } from 'zod';
import { agreementCoefficientSchema } from './agreement.ts';
import { judgeInfoSchema } from './ci-grade.ts';
import { rateSchema } from './rate.ts';

const count = z.int().nonnegative();

export const labelSides = ['secret', 'field', 'helpfulness'] as const;
export type LabelSide = (typeof labelSides)[number];

/** A square table of counts: a row for each label, in the order of `labels`, a column for each verdict. */
const confusionSchema = z.array(z.array(count));

const judgeAgreementSchema = z.strictObject({
  judge: z.string(),
  /** Items on which people (rows) and the judge (columns) say what. */
  confusion: confusionSchema,
  /** Labelled items that the judge left unjudged, and those whose sample failed or whose grade has no such judge. */
  unjudged: count,
  missing: count,
  agreement: rateSchema,
  kappa: agreementCoefficientSchema,
  alpha: agreementCoefficientSchema,
});
export type JudgeAgreement = z.infer<typeof judgeAgreementSchema>;

const sideAgreementSchema = z.strictObject({
  side: z.enum(labelSides),
  labels: z.array(z.string()),
  /** Items with a label of anyone; those among them on which no label has more than half of the raters' votes. */
  items: count,
  no_consensus: count,
  judges: z.array(judgeAgreementSchema),
  /** Between people, where there are several. */
  raters: z
    .strictObject({
      alpha: agreementCoefficientSchema,
      pairs: z.array(
        z.strictObject({
          first: z.string(),
          second: z.string(),
          confusion: confusionSchema,
          kappa: agreementCoefficientSchema,
        }),
      ),
    })
    .exactOptional(),
});
export type SideAgreement = z.infer<typeof sideAgreementSchema>;

const disagreementSchema = z.strictObject({
  judge: z.string(),
  experiment: z.string(),
  sample_id: z.string(),
  repeat: count,
  item: z.string(),
  people: z.string(),
  judge_says: z.string(),
});
export type Disagreement = z.infer<typeof disagreementSchema>;

/** `label_agreement.json` */
export const labelAgreementSchema = z.strictObject({
  version: z.literal(1),
  heams: z.string(),
  labels: count,
  unsure: count,
  records: count,
  raters: z.array(z.string()),
  judges: z.array(judgeInfoSchema),
  sides: z.array(sideAgreementSchema),
  /** Every item on which a judge and people say different things. */
  disagreements: z.array(disagreementSchema),
});
export type LabelAgreement = z.infer<typeof labelAgreementSchema>;
