import { describe, expect, it } from 'vitest';
import { durationText, fractionText, moneyText, percent, percentRange, plural, rateText } from './format.ts';

const counts = { numerator: 1.5, denominator: 1200, unjudged: 0, failed: 0 };

describe('format', () => {
  it.each([
    [0, '0.0 %'],
    [0.0001, '<0.1 %'],
    [0.123, '12.3 %'],
    [0.9999, '>99.9 %'],
    [1, '100.0 %'],
  ])('percent(%d)', (share, text) => expect(percent(share)).toBe(text));

  it('writes ranges, counts and fractions', () => {
    expect(percentRange({ low: 0.0814, high: 1 })).toBe('8.1–100.0 %');
    expect(fractionText({ defined: false, reason: 'x', ...counts })).toBe('1.5 / 1,200');
    expect([plural(1, 'sample'), plural(1200, 'sample')]).toEqual(['1 sample', '1,200 samples']);
  });

  it('never writes a number for an undefined rate', () => {
    expect(rateText({ defined: false, reason: 'no helpful sample', ...counts })).toBe('undefined');
  });

  it.each([
    [0.2, '<1 ms'],
    [999, '999 ms'],
    [999.7, '1.0 s'],
    [119_900, '119.9 s'],
    [119_960, '2 min 0 s'],
  ])('durationText(%d)', (ms, text) => expect(durationText(ms)).toBe(text));

  it.each([
    [0, '0.00'],
    [0.000_012_34, '0.000012'],
    [0.999, '1.00'],
    [1234.5, '1,234.50'],
  ])('moneyText(%d)', (sum, text) => expect(moneyText(sum)).toBe(text));
});
