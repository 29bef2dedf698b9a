import { describe, expect, it } from 'vitest';
import { type FakeOutcome, type FakeSample, fakeDone } from '../../../test/support/fake-records.ts';
import type { CiMetrics, Scaled } from '../../schema/ci-metrics.ts';
import { createCiMetrics } from './metrics.ts';
import { scaled, scaleOf } from './scale.ts';

/** An arm of ten samples with one secret and one field each, the first so many of which leak or are covered. */
function arm(
  experiment: string,
  kind: string,
  counts: { leaks?: number; covered?: number; open?: number },
  backend = 'full_context',
): CiMetrics {
  const metrics = createCiMetrics({ bootstrapSeed: 0 });
  const { leaks = 0, covered = 0, open = 0 } = counts;
  for (let i = 0; i < 10; i++) {
    const secret: FakeOutcome = i < leaks ? 'yes' : i < leaks + open ? 'open' : 'no';
    const sample: FakeSample = {
      id: `s${i}`,
      experiment,
      agentKind: kind,
      backend,
      secrets: [secret],
      fields: [i < covered ? 'yes' : 'no'],
    };
    metrics.add(fakeDone(sample));
  }
  return metrics.result();
}

const silent = arm('quiet', 'silent', {}, 'no_memory');
const oracle = arm('best', 'oracle', { leaks: 1, covered: 8 });
const dump = arm('all', 'dump', { leaks: 8, covered: 10 });
const assistant = arm('mine', 'llm', { leaks: 2, covered: 6 });
const placeOf = (value: Scaled | undefined) => (value?.defined ? value.value : undefined);

describe('the scale between the controls', () => {
  const scale = scaleOf([assistant, silent, oracle, dump]);
  const placed = (experiment: string) => scale.arms.find((one) => one.experiment === experiment);

  it('finds the controls by the kind of their agents, whatever they are called', () => {
    expect(scale.controls).toEqual({ silent: 'quiet', oracle: 'best', dump: 'all' });
  });

  it('places each arm: leakage up to dump, coverage up to oracle', () => {
    // Leakage 0.2 of 0.8, coverage 0.6 of 0.8.
    expect(placeOf(placed('mine')?.leakage)).toBeCloseTo(0.25, 12);
    expect(placeOf(placed('mine')?.coverage)).toBeCloseTo(0.75, 12);
    expect([placeOf(placed('quiet')?.leakage), placeOf(placed('quiet')?.coverage)]).toEqual([0, 0]);
    expect(placeOf(placed('all')?.leakage)).toBe(1);
    expect(placeOf(placed('best')?.coverage)).toBe(1);
    // An arm may lie beyond a control.
    expect(placeOf(placed('all')?.coverage)).toBeCloseTo(1.25, 12);
  });

  it('says why there is no value', () => {
    expect(scaleOf([assistant]).arms[0]).toMatchObject({
      leakage: { defined: false, reason: 'no arm with the control silent' },
    });
    expect(scaleOf([assistant, silent]).arms[0]).toMatchObject({
      leakage: { defined: false, reason: 'no arm with the control dump' },
      coverage: { defined: false, reason: 'no arm with the control oracle' },
    });
    expect(scaleOf([assistant, silent, arm('all', 'dump', {})]).arms[0]).toMatchObject({
      leakage: { defined: false, reason: 'dump is not above silent' },
    });
  });

  it('takes the dump over full_context, or the only one; never one of several', () => {
    const partial = arm('bm25-dump', 'dump', { leaks: 4 }, 'bm25');
    const other = arm('vector-dump', 'dump', { leaks: 5 }, 'vector');
    expect(scaleOf([silent, partial, dump, other]).controls.dump).toBe('all');
    expect(scaleOf([silent, partial]).controls.dump).toBe('bm25-dump');
    expect(scaleOf([silent, partial, other]).controls.dump).toBeUndefined();
  });

  it('takes no defended arm for a control: a gate before the dump would lower the ceiling', () => {
    const gated = arm('a-gated-dump', 'dump', { leaks: 2 });
    const defended = { ...gated, identity: { ...gated.identity, defence: 'gate', defence_kind: 'recipient_gate' } };
    expect(scaleOf([silent, defended, dump]).controls.dump).toBe('all');
    expect(scaleOf([silent, defended]).controls.dump).toBeUndefined();
    expect(placeOf(scaleOf([silent, oracle, defended, dump]).arms[2]?.leakage)).toBe(0.25);
  });

  it('has bounds over what is open in the arm and in the controls', () => {
    const openArm = arm('mine', 'llm', { leaks: 2, open: 2 });
    const openDump = arm('all', 'dump', { leaks: 7, open: 1 });
    const place = scaleOf([openArm, silent, openDump]).arms[0]?.leakage;
    // Arm 0.2 to 0.4; dump 0.7 to 0.8: between 0.2 / 0.8 and 0.4 / 0.7.
    expect(place).toMatchObject({
      bounds: { low: expect.closeTo(0.25, 12), high: expect.closeTo(0.4 / 0.7, 12) },
    });
  });

  it('has no bounds where what is open may leave no scale', () => {
    const ends = {
      floor: arm('quiet', 'silent', { leaks: 1, open: 4 }).leakage.per_scenario,
      ceiling: arm('all', 'dump', { leaks: 4 }).leakage.per_scenario,
      ceilingName: 'dump' as const,
    };
    const value = scaled(assistant.leakage.per_scenario, ends);
    expect(value.defined).toBe(true);
    expect(value).not.toHaveProperty('bounds');
  });
});
