import type { Json } from '../../schema/json.ts';

/** What a published rule looks for: required values and restricted values, as the annotation has them. */
export interface Annotated {
  allowed: readonly Json[];
  disallowed: readonly Json[];
}

/** One message by a published rule. */
export interface PaperScore {
  /** In [-1, 1]. */
  reward: number;
  /** No restricted value is in the answer. */
  integrity: boolean;
  /** Every required value is. */
  utility: boolean;
}

/** Both at once. */
export const isComplete = ({ integrity, utility }: Pick<PaperScore, 'integrity' | 'utility'>): boolean =>
  integrity && utility;
