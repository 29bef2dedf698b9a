import { describe, expect, it } from 'vitest';
import { renderHtml } from '../../report/render-html.ts';
import { renderMarkdown } from '../../report/render-markdown.ts';
import type { ArmComparison, CiComparison, Difference } from '../../schema/ci-comparison.ts';
import {
  comparisonDocument,
  comparisonLines,
  comparisonNotes,
  pointsText,
  undefinedReasons,
} from './compare-report.ts';

const open = { baseline: 0, arm: 1, both: 0 };
const difference: Difference = {
  defined: true,
  value: 0.125,
  baseline: 0.25,
  arm: 0.375,
  of: 'pairs',
  judged: 8,
  open,
  clusters: 8,
  interval: { low: -0.2, high: 0.45, method: 'newcombe', level: 0.95 },
  bounds: { low: 0, high: 0.2 },
  p: 0.0004,
  p_method: 'mcnemar_exact',
  p_holm: 0.04,
};
const nothing: Difference = { defined: false, reason: 'no pair', of: 'pairs', judged: 0, open };
const side = (experiment: string, primary: string) => ({
  run: 'results/r',
  experiment,
  agent: 'assistant',
  memory: 'bm25',
  backend: 'bm25',
  run_ids: ['run-1'],
  primary: [primary],
  helpfulness_thresholds: [2],
  records: 9,
});
const none = { count: 0, samples: [] };

function comparison(overrides: Partial<ArmComparison> = {}): CiComparison {
  const one: ArmComparison = {
    baseline: side('no_memory', 'judge:a'),
    arm: side('bm25', 'judge:a'),
    pairing: {
      pairs: 9,
      clusters: 9,
      baseline_only: 0,
      arm_only: 0,
      different: none,
      failed: { baseline: 0, arm: 0, both: 0 },
    },
    metrics: {
      'leakage.per_scenario': difference,
      'leakage.overall': difference,
      'leakage.adjusted': nothing,
      'coverage.overall': difference,
      'coverage.per_scenario': difference,
      helpfulness: difference,
    },
    flips: {
      leakage: { arm_only: { count: 1, samples: [{ sample_id: '<b>|`s1', repeat: 2 }] }, baseline_only: none },
      helpfulness: { arm_only: none, baseline_only: none },
    },
    ...overrides,
  };
  const baseline = { experiment: 'no_memory', chosen: 'no_memory' as const };
  return { version: 1, kind: 'arms', baseline, comparisons: [one], not_compared: [] };
}

describe('pointsText', () => {
  it.each([
    [0.125, '+12.5'],
    [-0.004, '-0.4'],
    [0, '0.0'],
    [0.0004, '+<0.1'],
    [-1, '-100.0'],
  ])('%d', (value, text) => {
    expect(pointsText(value)).toBe(text);
  });
});

describe('the report of a comparison', () => {
  it('says the difference with interval, bounds, both p-values and what is open', () => {
    const markdown = renderMarkdown(comparisonDocument(comparison()));
    expect(markdown).toContain(
      '| 8 | 25.0 % | 37.5 % | +12.5 (-20.0 to +45.0) | 0.0 to +20.0 | \\<0.001 | 0.040 | 1 |',
    );
    expect(markdown).toContain('| 0 |  |  | undefined (no pair) |  |  |  | 1 |');
    expect(markdown).not.toContain('Read this first');
  });

  it('holds hostile ids as text', () => {
    const document = comparisonDocument(comparison());
    expect(renderMarkdown(document)).toContain('``<b>|`s1 (repeat 2)``');
    expect(renderHtml(document)).toContain('&lt;b&gt;|`s1 (repeat 2)');
    expect(renderHtml(document)).not.toContain('<b>|');
  });

  it('warns of other judges, of samples that are not the same, and of what was left out', () => {
    const doubtful = comparison({
      arm: { ...side('bm25', 'judge:b'), helpfulness_thresholds: [3] },
      pairing: {
        pairs: 5,
        clusters: 5,
        baseline_only: 1,
        arm_only: 2,
        different: { count: 1, samples: [{ sample_id: 's', repeat: 0 }] },
        failed: { baseline: 1, arm: 0, both: 1 },
      },
    });
    const notes = comparisonNotes({
      ...doubtful,
      not_compared: [{ run: 'r', experiment: 'x', reason: 'no record yet' }],
    });
    const text = JSON.stringify(notes);
    for (const part of [
      'other judges: judge:a for the baseline, judge:b for the arm',
      'another threshold',
      '1 sample of the same name differ',
      '1 in the baseline alone and 2 in the arm alone',
      '2 pairs failed on a side',
      'no record yet',
    ]) {
      expect(text).toContain(part);
    }
  });

  it('is a line for each metric on a terminal, with the reasons apart', () => {
    const lines = comparisonLines(comparison());
    expect(lines).toHaveLength(7);
    expect(new Set(lines.map((cells) => cells.length))).toEqual(new Set([12]));
    expect(lines[1]).toEqual([
      'bm25',
      'leakage.per_scenario',
      '8',
      '1',
      '25.0 %',
      '37.5 %',
      '+12.5',
      '-20.0 to +45.0',
      '0.0 to +20.0',
      '<0.001',
      '0.040',
      '1/0',
    ]);
    expect(undefinedReasons(comparison())).toEqual(['bm25: leakage.adjusted is undefined, as no pair.']);
  });
});
