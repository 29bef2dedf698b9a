import type { Bounds, Rate } from '../schema/rate.ts';

/** `12.3 %`. What is not quite none or all never reads as 0.0 or 100.0. */
export function percent(share: number): string {
  if (share > 0 && share < 0.0005) return '<0.1 %';
  if (share < 1 && share >= 0.9995) return '>99.9 %';
  return `${(share * 100).toFixed(1)} %`;
}

/** `8.1–18.0 %` */
export function percentRange({ low, high }: Bounds): string {
  return `${(low * 100).toFixed(1)}–${(high * 100).toFixed(1)} %`;
}

export const rateText = (rate: Rate): string => (rate.defined ? percent(rate.value) : 'undefined');

/** `12,345` */
export const countText = (count: number): string => count.toLocaleString('en-US');

/** Numerator and denominator; a sum of shares with one decimal. */
export function fractionText({ numerator, denominator }: Rate): string {
  const above = Number.isInteger(numerator) ? countText(numerator) : numerator.toFixed(1);
  return `${above} / ${countText(denominator)}`;
}

/** `1 sample`, `2 samples` */
export const plural = (count: number, word: string): string => `${countText(count)} ${word}${count === 1 ? '' : 's'}`;

export function durationText(ms: number): string {
  if (ms < 1) return '<1 ms';
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 119_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${countText(Math.floor(seconds / 60))} min ${seconds % 60} s`;
}

/** A sum of money, without its currency; small sums keep two significant digits. */
export function moneyText(sum: number): string {
  if (sum === 0 || sum >= 0.995) {
    return sum.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  }
  return Number(sum.toPrecision(2)).toLocaleString('en-US', { maximumFractionDigits: 20 });
}
