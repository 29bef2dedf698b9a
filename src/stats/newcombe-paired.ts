import { wilsonInterval } from './wilson.ts';

/** Pairs by what either side is: a fourfold table. */
export interface PairTable {
  bothYes: number;
  firstOnly: number;
  secondOnly: number;
  bothNo: number;
}

/**
 * Correlation of the two sides, as method 10 takes it: a positive one is shrunk by half a pair per pair, and is 0 where
 * a margin of the table is empty.
 */
function correlation({ bothYes: a, firstOnly: b, secondOnly: c, bothNo: d }: PairTable): number {
  const margins = (a + b) * (c + d) * (a + c) * (b + d);
  if (margins === 0) return 0;
  const product = a * d - b * c;
  const shrunk = product > 0 ? Math.max(product - (a + b + c + d) / 2, 0) : product;
  return shrunk / Math.sqrt(margins);
}

/** Length of the sum of two distances that are correlated; the clamp only mends the last bit. */
const joined = (x: number, y: number, phi: number): number => Math.sqrt(Math.max(0, x * x - 2 * phi * x * y + y * y));

/**
 * 95 % interval of the difference of two paired shares, first minus second: R. G. Newcombe, "Improved confidence
 * intervals for the difference between binomial proportions based on paired data", Statist. Med. 17, 1998, 2635-2650,
 * method 10. It joins the two sides' score intervals (l, u):
 * low = D - sqrt((p1 - l1)^2 - 2 phi (p1 - l1)(u2 - p2) + (u2 - p2)^2), high likewise with the other ends.
 *
 * The pairs must be independent of each other. Lies in [-1, 1] and holds the difference. At least one pair, else a
 * RangeError.
 */
export function newcombePaired(table: PairTable): { low: number; high: number } {
  const { bothYes, firstOnly, secondOnly, bothNo } = table;
  const pairs = bothYes + firstOnly + secondOnly + bothNo;
  const [firstYes, secondYes] = [bothYes + firstOnly, bothYes + secondOnly];
  const first = wilsonInterval(firstYes, pairs);
  const second = wilsonInterval(secondYes, pairs);
  const [p1, p2] = [firstYes / pairs, secondYes / pairs];
  const difference = (firstOnly - secondOnly) / pairs;
  const phi = correlation(table);
  return {
    low: Math.max(-1, difference - joined(p1 - first.low, second.high - p2, phi)),
    high: Math.min(1, difference + joined(p2 - second.low, first.high - p1, phi)),
  };
}
