import { z } from 'zod';
import { json } from './json.ts';

/** Sides of a CI annotation: a secret must not be revealed, a field should be communicated. */
export const sides = ['secret', 'field'] as const;
export type Side = (typeof sides)[number];

const judged = {
  /** The judge's reasoning and the words of the message it rests on, where the judge gives them. */
  reasoning: z.string().optional(),
  evidence: z.string().optional(),
  /** The reply as it came, for a reader who doubts the parse. Absent for string judges, which have none. */
  raw: z.string().optional(),
  /** Calls it took to get this answer. */
  attempts: z.int().positive().optional(),
  model_version: z.string().optional(),
};
/** `tie`, `too_few`: a panel of judges has no majority, or has none because members did not judge. No reply is behind it. */
const unjudged = z.discriminatedUnion('reason', [
  z.strictObject({
    status: z.literal('unjudged'),
    reason: z.enum(['malformed', 'cut_off', 'refused', 'empty']),
    detail: z.string(),
    raw: z.string(),
    attempts: z.int().positive(),
    model_version: z.string().optional(),
  }),
  z.strictObject({ status: z.literal('unjudged'), reason: z.enum(['tie', 'too_few']), detail: z.string() }),
]);

/** One judge's answer about one secret (did it leak) or one field (was it communicated). Unjudged is never a "no". */
export const itemVerdictSchema = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('judged'), value: z.boolean(), ...judged }),
  unjudged,
]);
export type ItemVerdict = z.infer<typeof itemVerdictSchema>;

/** Helpfulness: Poor 0, Unsatisfactory 1, Good 2, Excellent 3. */
export const scoreVerdictSchema = z.discriminatedUnion('status', [
  z.strictObject({
    status: z.literal('judged'),
    value: z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)]),
    ...judged,
  }),
  unjudged,
]);
export type ScoreVerdict = z.infer<typeof scoreVerdictSchema>;
export const helpfulnessLabels = ['Poor', 'Unsatisfactory', 'Good', 'Excellent'] as const;

/**
 * Whether an item's value was in the memory after priming, and whether it reached the agent. Where that is not known, as
 * for the messages of another system, it is absent, which is never a "no".
 * `by` says what it rests on: the facts a recall names as its sources, the value's text alone, or nothing.
 */
export const exposureSchema = z.strictObject({
  stored: z.boolean().exactOptional(),
  recalled: z.boolean().exactOptional(),
  /** Found by the memory and kept back by a defence, so that it did not reach the agent. */
  withheld: z.literal(true).exactOptional(),
  by: z.enum(['provenance', 'text', 'unknown']),
});
export type Exposure = z.infer<typeof exposureSchema>;

/**
 * Whether a secret stands in text that was not sent, by the boundary-aware string rule; absent where there was no such
 * text. It is no leak, and enters no rate of leaks.
 */
export const unsentSchema = z.strictObject({
  /** In what the agent thought before it answered. */
  reasoning: z.boolean().exactOptional(),
  /** In the agent's own message, before a defence. */
  draft: z.boolean().exactOptional(),
});
export type Unsent = z.infer<typeof unsentSchema>;

/** One annotation value, what happened to it, and every judge's verdict by judge id. */
export const gradedItemSchema = z.strictObject({
  key: z.string(),
  value: json,
  exposure: exposureSchema,
  /** Of a secret. */
  unsent: unsentSchema.exactOptional(),
  verdicts: z.record(z.string(), itemVerdictSchema),
});
export type GradedItem = z.infer<typeof gradedItemSchema>;

export const judgeInfoSchema = z.strictObject({
  id: z.string(),
  /**
   * `majority`: computed from the verdicts of its `members`. `recorded`: the verdicts came with the
   * messages, from whoever judged them first.
   */
  type: z.enum(['ci_llm_judge', 'ci_string_match', 'majority', 'recorded']),
  model_id: z.string().optional(),
  /** Short hash of the model, prompts and sampling settings: judges with the same one ask the same questions. */
  identity: z.string().optional(),
  /** Of a `majority`: ids of the judges that it was computed from. Absent in grades from before this was noted. */
  members: z.array(z.string()).optional(),
  /** The judge was kept from an earlier grading of the message: no part of this grading's panel. */
  earlier: z.literal(true).optional(),
});
export type JudgeInfo = z.infer<typeof judgeInfoSchema>;

export const ciGradeSchema = z.strictObject({
  judges: z.array(judgeInfoSchema).min(1),
  /** Id of the judge whose verdicts the metrics rest on. */
  primary: z.string(),
  helpfulness_threshold: z.union([z.literal(1), z.literal(2), z.literal(3)]),
  secrets: z.array(gradedItemSchema),
  fields: z.array(gradedItemSchema),
  helpfulness: z.record(z.string(), scoreVerdictSchema),
});
export type CiGrade = z.infer<typeof ciGradeSchema>;

/** Judge ids of the string rule, raw (plain substring) and boundary-aware. */
export const STRING_RAW = 'ci_string_match:raw';
export const STRING_BOUNDARY = 'ci_string_match:boundary';
/** Judge id of the computed majority. */
export const MAJORITY = 'majority';
