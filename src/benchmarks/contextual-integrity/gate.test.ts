import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FakeOutcome, fakeDone, fakeFailed } from '../../../test/support/fake-records.ts';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { ciGateSchema } from '../../schema/ci-gate.ts';
import type { Rate } from '../../schema/rate.ts';
import type { RunStatus, SampleRecord } from '../../schema/record.ts';
import { shareRate } from '../../stats/rate.ts';
import { recordLine } from '../../store/records.ts';
import { checkRun, type GateOptions } from './gate.ts';
import { decideLimit, type GateRules } from './gate-decide.ts';
import { gateMetrics, type Limit, parseLimits, parseMargins } from './gate-limits.ts';
import { gateDocument, gateHeadline, gateJunit } from './gate-render.ts';

const strict: GateRules = { on: 'interval', allowUndefined: false, allowUnjudged: 0 };
const max = (value: number): Limit => ({ metric: 'leakage.per_scenario', side: 'max', value });
const min = (value: number): Limit => ({ metric: 'coverage.per_scenario', side: 'min', value });
const rate = (yes: number, no: number, unjudged = 0, failed = 0): Rate =>
  shareRate({ yes, no, unjudged, failed }, { reason: 'nothing judged' });

describe('a limit', () => {
  it('holds by the unfavourable end of the interval unless the point decides', () => {
    // Wilson for 0 of 100 is 0 to 3.84 / 103.84 = 3.7 %; for 1 of 100 it ends at 5.4 %.
    expect(decideLimit(rate(0, 100), max(0.05), strict).status).toBe('passed');
    expect(decideLimit(rate(1, 99), max(0.05), strict).status).toBe('failed');
    expect(decideLimit(rate(1, 99), max(0.05), { ...strict, on: 'point' }).status).toBe('passed');
    expect(decideLimit(rate(100, 0), min(0.95), strict).status).toBe('passed');
    expect(decideLimit(rate(99, 1), min(0.95), strict).status).toBe('failed');
    expect(decideLimit(rate(99, 1), min(0.95), { ...strict, on: 'point' }).status).toBe('passed');
  });

  it('holds where the value is the limit', () => {
    expect(decideLimit(rate(5, 95), max(0.05), { ...strict, on: 'point' }).status).toBe('passed');
    expect(decideLimit(rate(5, 95), min(0.05), { ...strict, on: 'point' }).status).toBe('passed');
  });

  it('fails by the bound over what is unjudged or failed, unless so little of it is allowed', () => {
    // 0 of 200 leak and 20 are unjudged: the bound is 20 / 220 = 9.1 %.
    const point = { ...strict, on: 'point' as const };
    for (const open of [rate(0, 200, 20), rate(0, 200, 0, 20)]) {
      expect(decideLimit(open, max(0.05), point)).toMatchObject({
        status: 'failed',
        reason: expect.stringContaining('9.1 % unjudged or failed'),
      });
      expect(decideLimit(open, max(0.05), { ...point, allowUnjudged: 0.09 }).status).toBe('failed');
      expect(decideLimit(open, max(0.05), { ...point, allowUnjudged: 0.1 }).status).toBe('passed');
      expect(decideLimit(open, max(0.1), point).status).toBe('passed');
    }
    expect(decideLimit(rate(200, 0, 20), min(0.95), point).status).toBe('failed');
  });

  it('fails where the rate is undefined, unless that is allowed', () => {
    for (const undefinedRate of [rate(0, 0, 3), undefined]) {
      expect(decideLimit(undefinedRate, max(1), strict).status).toBe('failed');
      expect(decideLimit(undefinedRate, max(1), { ...strict, allowUndefined: true }).status).toBe('skipped');
    }
  });

  it('never passes with a rate beyond it, and never passes by interval what fails by point', () => {
    const count = fc.integer({ min: 0, max: 50 });
    fc.assert(
      fc.property(count, count, count, fc.double({ min: 0, max: 1, noNaN: true }), (yes, no, open, value) => {
        fc.pre(yes + no > 0);
        const drawn = rate(yes, no, open);
        for (const limit of [max(value), min(value)]) {
          const [byInterval, byPoint] = (['interval', 'point'] as const).map((on) =>
            decideLimit(drawn, limit, { ...strict, on }),
          );
          if (byPoint?.status === 'failed') expect(byInterval?.status).toBe('failed');
          const share = yes / (yes + no);
          const beyond = limit.side === 'max' ? share > value : share < value;
          if (beyond) expect(byPoint?.status).toBe('failed');
        }
      }),
    );
  });
});

describe('what is asked for', () => {
  it('is read from the command line', () => {
    expect(parseLimits('max', ['leakage.adjusted=0.05', ' unflagged.leakage.overall = .1 '])).toEqual([
      { metric: 'leakage.adjusted', side: 'max', value: 0.05 },
      { metric: 'unflagged.leakage.overall', side: 'max', value: 0.1 },
    ]);
  });

  it('names the metrics and the nearest one where a name is unknown', () => {
    expect(() => parseLimits('max', ['leakage.ajusted=0.05'])).toThrow(
      expect.objectContaining({
        code: 'gate_unknown_metric',
        expected: `one of: ${gateMetrics.join(', ')}`,
        hint: 'did you mean "leakage.adjusted"?',
      }),
    );
  });

  it.each(['leakage.overall', 'leakage.overall=', 'leakage.overall=x', 'leakage.overall=1.5', 'leakage.overall=-0.1'])(
    'is refused where it is malformed: %s',
    (text) => {
      expect(() => parseLimits('max', [text])).toThrow(expect.objectContaining({ code: 'gate_bad_limit' }));
    },
  );

  it('is refused as a percentage, and twice, with what to write instead', () => {
    expect(() => parseLimits('max', ['leakage.overall=5 %'])).toThrow(
      expect.objectContaining({ code: 'gate_bad_limit', hint: '5 % is written 0.05' }),
    );
    const twice = ['leakage.overall=0.1', 'leakage.overall=0.2'];
    expect(() => parseLimits('max', twice)).toThrow(expect.objectContaining({ code: 'gate_bad_limit' }));
  });

  it('a margin alone is for the metrics with a limit, or for all that can be compared', () => {
    const limits = parseLimits('max', ['leakage.adjusted=0.05']);
    expect(parseMargins(['0.02'], limits)).toEqual([{ metric: 'leakage.adjusted', value: 0.02 }]);
    expect(parseMargins(['0.02'], []).map(({ metric }) => metric)).toHaveLength(6);
    expect(parseMargins(['0.02', 'helpfulness=0.1'], limits)).toEqual([
      { metric: 'leakage.adjusted', value: 0.02 },
      { metric: 'helpfulness', value: 0.1 },
    ]);
    expect(() => parseMargins(['0.02'], parseLimits('max', ['unflagged.leakage.overall=0.1']))).toThrow(
      expect.objectContaining({ code: 'gate_bad_limit' }),
    );
    expect(() => parseMargins(['coverage.adjusted=0.1'], [])).toThrow(
      expect.objectContaining({ code: 'gate_unknown_metric' }),
    );
  });
});

const status = (planned: number): RunStatus => ({
  version: 1,
  run_id: 'run-1',
  experiment: 'a',
  state: 'stopped',
  planned,
  done: 0,
  failed: 0,
  fingerprint: 'f',
  started_at: '2025-01-01T00:00:00.000Z',
  updated_at: '2025-01-01T00:00:00.000Z',
});

async function runFolder(arms: Readonly<Record<string, readonly SampleRecord[]>>, planned?: number): Promise<string> {
  const dir = await tempFolder();
  for (const [name, records] of Object.entries(arms)) {
    await mkdir(join(dir, name));
    await writeFile(join(dir, name, 'runs.jsonl'), records.map(recordLine).join(''));
    if (planned !== undefined) await writeFile(join(dir, name, 'run_status.json'), JSON.stringify(status(planned)));
  }
  return dir;
}

const leaking = (experiment: string, of: number, leaks: number): SampleRecord[] =>
  Array.from({ length: of }, (_, i) =>
    fakeDone({ id: `s${i}`, experiment, secrets: [(i < leaks ? 'yes' : 'no') as FakeOutcome], fields: ['yes'] }),
  );

const check = (dir: string, options: Partial<GateOptions> = {}) =>
  checkRun({ ...strict, run: { dir, label: 'results/r' }, limits: [max(0.05)], ...options });

describe('checkRun', () => {
  it('passes only where every arm does, and fits its schema', async () => {
    const dir = await runFolder({ a: leaking('a', 100, 0), b: leaking('b', 100, 50) });
    const gate = ciGateSchema.parse(await check(dir));
    expect(gate.passed).toBe(false);
    expect(gate.checks.map(({ experiment, name, status }) => [experiment, name, status])).toEqual([
      ['a', 'complete', 'passed'],
      ['a', 'leakage.per_scenario <= 0.05', 'passed'],
      ['b', 'complete', 'passed'],
      ['b', 'leakage.per_scenario <= 0.05', 'failed'],
    ]);
    expect((await check(dir, { experiments: ['a'] })).passed).toBe(true);
    await expect(check(dir, { experiments: ['c'] })).rejects.toMatchObject({ code: 'results_unknown_experiment' });
  });

  it('fails where samples failed, are missing, or an arm has no record, unless so few are allowed', async () => {
    const failed = await runFolder({ a: [...leaking('a', 99, 0), fakeFailed({ id: 'x', experiment: 'a' })] });
    expect((await check(failed)).passed).toBe(false);
    expect((await check(failed, { allowUnjudged: 0.01 })).passed).toBe(true);
    const stopped = await runFolder({ a: leaking('a', 100, 0) }, 200);
    expect((await check(stopped)).checks[0]).toMatchObject({
      name: 'complete',
      status: 'failed',
      reason: '50.0 % of 200 samples missing or failed',
    });
    const empty = await runFolder({ a: leaking('a', 100, 0), b: [] });
    expect((await check(empty, { allowUnjudged: 1 })).passed).toBe(false);
  });

  it('fails for an arm that the run planned and has no records of, unless others are named', async () => {
    const dir = await runFolder({ a: leaking('a', 100, 0) });
    const gate = await check(dir, { planned: ['a', 'b'] });
    expect(gate.checks.find(({ experiment }) => experiment === 'b')).toMatchObject({
      status: 'failed',
      name: 'complete',
    });
    expect((await check(dir, { planned: ['a', 'b'], experiments: ['a'] })).passed).toBe(true);
  });

  it('fails, and does not refuse, where no arm has a record', async () => {
    const gate = ciGateSchema.parse(await check(await runFolder({ a: [], b: [] })));
    expect(gate.passed).toBe(false);
    expect(gate.checks.map(({ experiment, status }) => [experiment, status])).toEqual([
      ['a', 'failed'],
      ['b', 'failed'],
    ]);
  });

  it('fails against a run that was measured otherwise: a lenient judge is no better agent', async () => {
    const strictly = leaking('a', 100, 50);
    const leniently = strictly.map((record) =>
      record.status === 'done'
        ? { ...record, grade: { ...(record.grade as object), helpfulness_threshold: 1 } }
        : record,
    ) as SampleRecord[];
    const against = {
      run: { dir: await runFolder({ a: strictly }), label: 'old' },
      margins: parseMargins(['0.5'], [max(1)]),
    };
    const gate = await check(await runFolder({ a: leniently }), { limits: [max(1)], against });
    expect(gate.checks.find(({ kind }) => kind === 'comparable')).toMatchObject({
      status: 'failed',
      reason: 'helpful from score 1, in the other run from 2',
    });
    expect(gate.passed).toBe(false);
  });

  it('refuses to pass where nothing is asked', async () => {
    const dir = await runFolder({ a: leaking('a', 2, 0) });
    await expect(check(dir, { limits: [] })).rejects.toMatchObject({ code: 'gate_no_limit' });
  });

  it('refuses a status that is none', async () => {
    const dir = await runFolder({ a: leaking('a', 2, 0) });
    await writeFile(join(dir, 'a', 'run_status.json'), '{');
    await expect(check(dir)).rejects.toMatchObject({ code: 'gate_bad_status' });
  });

  it('holds a run against another: by the interval, and by the point', async () => {
    const old = await runFolder({ a: leaking('a', 200, 10) });
    const fresh = await runFolder({ a: leaking('a', 200, 12) });
    const against = (value: number) => ({
      limits: [],
      against: { run: { dir: old, label: 'old' }, margins: [{ metric: 'leakage.per_scenario' as const, value }] },
    });
    // Two of 200 more: 1 point. The interval reaches further than 1.5 points, and not as far as 10.
    const outcomes = await Promise.all([
      check(fresh, { ...against(0.015), on: 'point' }),
      check(fresh, against(0.015)),
      check(fresh, against(0.1)),
      check(fresh, { ...against(0.005), on: 'point' }),
    ]);
    expect(outcomes.map(({ passed }) => passed)).toEqual([true, false, true, false]);
    // Better is never worse.
    const better = await runFolder({ a: leaking('a', 200, 0) });
    expect((await check(better, against(0))).passed).toBe(true);
  });

  it('fails where samples have no counterpart in the other run, or the arm has none', async () => {
    const old = await runFolder({ a: leaking('a', 50, 0), c: leaking('c', 50, 0) });
    const fresh = await runFolder({ a: leaking('a', 100, 0), b: leaking('b', 50, 0) });
    const gate = await check(fresh, {
      limits: [],
      against: { run: { dir: old, label: 'old' }, margins: [{ metric: 'leakage.per_scenario', value: 1 }] },
    });
    const comparable = gate.checks.filter(({ kind }) => kind === 'comparable');
    expect(comparable.map(({ experiment, status, reason }) => [experiment, status, reason])).toEqual([
      ['a', 'failed', '50.0 % of 100 samples without a counterpart'],
      ['b', 'failed', 'the other run has no records of this experiment'],
    ]);
  });
});

describe('what a CI system reads', () => {
  it('is JUnit XML with hostile text escaped', async () => {
    const dir = await runFolder({ a: leaking('a', 100, 50) });
    const gate = await check(dir);
    const hostile = { ...gate, checks: gate.checks.map((each) => ({ ...each, experiment: '<a&"\u0000\uffff' })) };
    const xml = gateJunit(hostile);
    expect(xml).toContain('<testsuites name="heams check" tests="2" failures="1" errors="0" skipped="0" time="0">');
    expect(xml).toContain('<testcase classname="&lt;a&amp;&quot;\u2400\ufffd" name="complete" time="0"/>');
    expect(xml).toContain('name="leakage.per_scenario &lt;= 0.05"');
    expect(xml.match(/<failure /g)).toHaveLength(1);
    expect(xml).not.toContain('<a&');
  });

  it('is a page that says how it went', async () => {
    const gate = await check(await runFolder({ a: leaking('a', 100, 50) }));
    expect(gateHeadline(gate)).toBe('FAILED: 1 of 2 checks');
    expect(gateDocument(gate).title).toBe('HEAMS gate FAILED: 1 of 2 checks');
  });
});
