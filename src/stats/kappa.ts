import type { AgreementCoefficient } from '../schema/agreement.ts';
import { wilsonInterval, Z95 } from './wilson.ts';

/** Counts of items by the first rater's category (row) and the second's (column); square, whole numbers. */
export type Confusion = readonly (readonly number[])[];

/**
 * Cohen's kappa of two raters who sort the same items into the same categories: (p_o - p_e) / (1 - p_e), with p_o the
 * share of items on which they agree and p_e the share on which they would by their margins alone (J. Cohen, "A
 * coefficient of agreement for nominal scales", Educational and Psychological Measurement 20 (1960), 37-46).
 *
 * The interval is kappa +- 1.96 standard errors, cut at -1 and 1, with the asymptotic standard error for kappa that
 * need not be 0 (J. L. Fleiss, J. Cohen and B. S. Everitt, "Large sample standard errors of kappa and weighted kappa",
 * Psychological Bulletin 72 (1969), 323-327, eq. 13). With perfect agreement that error is 0; so that the interval claims
 * no certainty, it reaches down at least to the kappa of Wilson's lower limit of agreement on all items, at the same p_e.
 * It takes items as independent, and is too narrow below some 50 items.
 *
 * Undefined without items, and where both raters put every item into one and the same category (p_e = 1).
 */
export function cohenKappa(table: Confusion): AgreementCoefficient {
  const items = table.flat().reduce((sum, count) => sum + count, 0);
  if (items === 0) return { defined: false, reason: 'no item has a label of both', items };
  const share = (i: number, j: number) => (table[i]?.[j] ?? 0) / items;
  const categories = [...table.keys()];
  const row = categories.map((i) => categories.reduce((sum, j) => sum + share(i, j), 0));
  const column = categories.map((j) => categories.reduce((sum, i) => sum + share(i, j), 0));
  const rowOf = (i: number) => row[i] as number;
  const columnOf = (j: number) => column[j] as number;
  if (categories.some((i) => rowOf(i) === 1 && columnOf(i) === 1)) {
    return { defined: false, reason: 'both give every item the same label, so that chance alone would agree', items };
  }
  const observed = categories.reduce((sum, i) => sum + share(i, i), 0);
  const expected = categories.reduce((sum, i) => sum + rowOf(i) * columnOf(i), 0);
  const kappa = (observed - expected) / (1 - expected);
  let agreeing = 0;
  let differing = 0;
  for (const i of categories) {
    agreeing += share(i, i) * (1 - (rowOf(i) + columnOf(i)) * (1 - kappa)) ** 2;
    for (const j of categories) if (i !== j) differing += share(i, j) * (columnOf(i) + rowOf(j)) ** 2;
  }
  const variance = agreeing + (1 - kappa) ** 2 * differing - (kappa - expected * (1 - kappa)) ** 2;
  // Rounding may leave a hair below zero where agreement is perfect.
  const half = (Z95 * Math.sqrt(Math.max(0, variance) / items)) / (1 - expected);
  const perfect = (wilsonInterval(items, items).low - expected) / (1 - expected);
  const low = Math.max(-1, Math.min(kappa - half, perfect));
  return { defined: true, value: kappa, low, high: Math.min(1, kappa + half), items };
}
