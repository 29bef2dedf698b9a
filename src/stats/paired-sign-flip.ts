import type { Random } from '../lib/random.ts';
import { exactMcNemar } from './mcnemar.ts';

export interface SignFlipResult {
  p: number;
  method: 'mcnemar_exact' | 'sign_flip_exact' | 'sign_flip_sampled' | 'sign_flip_normal';
}

export interface SignFlipOptions {
  random: Random;
  /** Sampled flips; 9,999 unless told. */
  flips?: number;
}

/** Up to this many clusters that differ every flip is counted; up to the second, flips are sampled. */
const MAX_ENUMERATED = 14;
const MAX_SAMPLED = 2000;

/** How many of all 2^m sums of +-size are at least as far from 0 as `reached`: the share of them. */
function enumerated(sizes: Float64Array, reached: number): number {
  const flips = 2 ** sizes.length;
  let extreme = 0;
  for (let bits = 0; bits < flips; bits++) {
    let total = 0;
    for (let i = 0; i < sizes.length; i++) total += (bits >>> i) & 1 ? (sizes[i] as number) : -(sizes[i] as number);
    if (Math.abs(total) >= reached) extreme += 1;
  }
  return extreme / flips;
}

/** The observed flip counts as one of the flips, so that p is never 0 (Phipson and Smyth 2010). */
function sampled(sizes: Float64Array, reached: number, random: Random, flips: number): number {
  let extreme = 0;
  for (let flip = 0; flip < flips; flip++) {
    let total = 0;
    let bits = 0;
    for (let i = 0; i < sizes.length; i++) {
      if (i % 32 === 0) bits = (random() * 4294967296) >>> 0;
      total += bits & 1 ? (sizes[i] as number) : -(sizes[i] as number);
      bits >>>= 1;
    }
    if (Math.abs(total) >= reached) extreme += 1;
  }
  return (1 + extreme) / (1 + flips);
}

/**
 * Chance that a standard normal lies farther than z from 0, 2 (1 - Phi(z)): the series of Abramowitz and Stegun (1964)
 * 26.2.11 near 0, their continued fraction 26.2.14 beyond 3.
 */
export function normalTwoSided(z: number): number {
  const x = Math.abs(z);
  const density = Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
  if (x < 3) {
    let term = x;
    let series = x;
    for (let k = 3; term > 1e-17 * series; k += 2) {
      term *= (x * x) / k;
      series += term;
    }
    return Math.min(1, 1 - 2 * density * series);
  }
  let fraction = x;
  for (let k = 80; k >= 1; k--) fraction = x + k / fraction;
  return Math.max(Number.MIN_VALUE, (2 * density) / fraction);
}

/**
 * Two-sided test that two arms are exchangeable within every cluster: under it, each cluster's difference is as likely to
 * have the other sign (R. A. Fisher, The Design of Experiments, 1935, section 21). The statistic is the sum of
 * differences, as far from 0 as observed or farther.
 *
 * Where all differences that are not 0 have one size this is the exact McNemar test over clusters (`mcnemar_exact`). Else
 * all flips are counted, sampled with a seed, or, for more than 2,000 clusters that differ, taken as normal with
 * variance sum d^2. `differences` has one number a cluster; clusters without a difference do not matter.
 */
export function signFlipTest(differences: Float64Array, options: SignFlipOptions): SignFlipResult {
  const changed = differences.filter((difference) => difference !== 0);
  const sizes = changed.map(Math.abs);
  const first = sizes[0] ?? 0;
  if (sizes.every((size) => size === first)) {
    const up = changed.filter((difference) => difference > 0).length;
    return { p: exactMcNemar(up, changed.length - up), method: 'mcnemar_exact' };
  }
  let total = 0;
  let squares = 0;
  let largest = 0;
  for (const difference of changed) {
    total += difference;
    squares += difference * difference;
    largest += Math.abs(difference);
  }
  // Sums of shares are rounded: a flip that reaches the same sum by other steps must count as equal.
  const reached = Math.abs(total) - 1e-9 * largest;
  if (sizes.length <= MAX_ENUMERATED) return { p: enumerated(sizes, reached), method: 'sign_flip_exact' };
  if (sizes.length <= MAX_SAMPLED) {
    return { p: sampled(sizes, reached, options.random, options.flips ?? 9999), method: 'sign_flip_sampled' };
  }
  return { p: normalTwoSided(total / Math.sqrt(squares)), method: 'sign_flip_normal' };
}
