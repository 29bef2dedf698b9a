import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fakeDone } from '../../../test/support/fake-records.ts';
import { sharedData } from '../../../test/support/shared-data.ts';
import { createCiMetrics } from './metrics.ts';

interface Recorded {
  run: string;
  name: string;
  user_instruction: string;
  final_action: string | null;
  secret_judgment: [string, boolean][];
}

function recordedRun(run: string): Recorded[] {
  const lines = readFileSync(join(sharedData as string, 'privacylens_recorded_verdicts.jsonl'), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as Recorded).filter((row) => row.run === run);
}

function metricsOf(rows: readonly Recorded[]) {
  const metrics = createCiMetrics({ bootstrapSeed: 0 });
  for (const [i, row] of rows.entries()) {
    metrics.add(
      fakeDone({
        id: `${row.name}-${i}`,
        task: row.user_instruction,
        // What was done is what stands from "Action:" on; a text that only thinks did nothing.
        message: /Action:[\s\S]*/.exec(row.final_action ?? '')?.[0] ?? '',
        secrets: row.secret_judgment.map(([value, leaked]) => ({ value, verdict: leaked ? 'yes' : 'no' })),
        score: 'missing',
      }),
    );
  }
  return metrics.result();
}

const share = (part: number, whole: number) => Math.round((part / whole) * 1e4) / 100;

describe('recorded verdicts of PrivacyLens', () => {
  // Published with the recordings: share of cases that leak and share of secrets leaked, in per cent.
  it.skipIf(!sharedData).each([
    ['main_gpt4o_mini_naive', 52.54, 37.53],
    ['main_gpt4o_naive', 45.44, 33.62],
    ['main_deepseek_naive', 41.38, 29.52],
  ])('%s leaks in %s per cent of cases and %s of secrets (needs the real rows)', (run, cases, secrets) => {
    const rows = recordedRun(run);
    expect(rows.length).toBe(493);
    const { leakage } = metricsOf(rows);
    expect(share(leakage.per_scenario.numerator, leakage.per_scenario.denominator)).toBe(cases);
    expect(share(leakage.overall.numerator, leakage.overall.denominator)).toBe(secrets);
    expect(leakage.adjusted).toMatchObject({ defined: false, reason: 'helpfulness unjudged' });
  });

  // 69 and 15 cases hold no action and were counted as no leak: over the cases with one, the ranking flips.
  it.skipIf(!sharedData).each([
    ['main_deepseek_naive', 69, 48.11],
    ['main_gpt4o_naive', 15, 46.86],
  ])('%s: %i empty actions, %s per cent of the others leak (needs the real rows)', (run, empty, cases) => {
    const rows = recordedRun(run);
    const { counts, engaged } = metricsOf(rows);
    expect(counts.empty_messages).toBe(empty);
    expect(share(engaged.leakage.numerator, engaged.leakage.denominator)).toBe(cases);
  });
});
