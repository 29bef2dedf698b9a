import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeDone } from '../../test/support/fake-records.ts';
import { ciComparisonSchema } from '../schema/ci-comparison.ts';
import { ciGateSchema } from '../schema/ci-gate.ts';
import { recordLine } from '../store/records.ts';
import { exit } from './io.ts';
import { buildProgram } from './program.ts';

let dir: string;

/** Leaks by sample, one mark a sample. */
async function writeArm(run: string, experiment: string, marks: string): Promise<void> {
  const folder = join(dir, run, experiment);
  await mkdir(folder, { recursive: true });
  const records = [...marks].map((mark, i) =>
    fakeDone({ id: `s${i}`, experiment, secrets: [mark === '1' ? 'yes' : 'no'], fields: ['yes'] }),
  );
  await writeFile(join(folder, 'runs.jsonl'), records.map(recordLine).join(''));
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'heams-'));
  await writeArm('old', 'no_memory', '0'.repeat(100));
  await writeArm('old', 'bm25', '1'.repeat(10) + '0'.repeat(90));
  await writeArm('new', 'no_memory', '0'.repeat(100));
  await writeArm('new', 'bm25', '1'.repeat(30) + '0'.repeat(70));
});
afterAll(() => rm(dir, { recursive: true }));

/** Calls the command line in this process. */
async function heams(...args: string[]) {
  const out: string[] = [];
  const notes: string[] = [];
  let code: number | undefined;
  const io = {
    out: (line: string) => void out.push(line),
    note: (line: string) => void notes.push(line),
    terminal: false,
    env: {},
    cwd: dir,
  };
  await buildProgram(io, (done) => {
    code = done;
  }).parseAsync(args, { from: 'user' });
  return { code, out, notes };
}

describe('heams compare', () => {
  it('prints one line for each arm and metric, and writes nothing', async () => {
    const { code, out } = await heams('compare', 'old');
    expect(code).toBe(exit.done);
    expect(out[0]).toBe('Against no_memory, on the same samples and repeats; differences in percentage points');
    expect(out[2]).toMatch(/^arm +metric +judged +open +baseline +this arm +difference/);
    // 10 up of 100: p = 2 / 2^10.
    expect(out[3]).toMatch(/^bm25 +leakage\.per_scenario +100 +0 +0\.0 % +10\.0 % +\+10\.0 .* 0\.002 +0\.002 +10\/0$/);
    expect(out).toHaveLength(3 + 6);
    expect(await readdir(join(dir, 'old'))).toEqual(['bm25', 'no_memory']);
  });

  it('prints JSON, and writes three files on demand', async () => {
    const { out } = await heams('compare', 'old', 'new', '--json', '--write');
    const comparison = ciComparisonSchema.parse(JSON.parse(out.join('\n')));
    expect(comparison.comparisons.map(({ arm, baseline }) => [arm.run, arm.experiment, baseline.run])).toEqual([
      ['new', 'bm25', 'old'],
      ['new', 'no_memory', 'old'],
    ]);
    const folder = join(dir, 'new/_rollup/ci');
    expect(await readdir(folder)).toEqual(['compare.html', 'compare.json', 'compare.md']);
    expect(ciComparisonSchema.parse(JSON.parse(await readFile(join(folder, 'compare.json'), 'utf8')))).toEqual(
      comparison,
    );
    expect(await readFile(join(folder, 'compare.md'), 'utf8')).toContain('leaks in the arm alone, 20 pairs');
  });
});

describe('heams check', () => {
  it('ends with 0 where every check holds, and with 4 where one does not', async () => {
    const passed = await heams('check', 'old', '--max', 'leakage.per_scenario=0.2', '--min', 'coverage.overall=0.9');
    expect(passed.code).toBe(exit.done);
    expect(passed.out.at(-1)).toBe('passed: 6 checks');
    const failed = await heams('check', 'old', '--max', 'leakage.per_scenario=0.1', '--json');
    expect(failed.code).toBe(exit.gate);
    expect(exit.gate).toBe(4);
    expect(ciGateSchema.parse(JSON.parse(failed.out.join('\n')))).toMatchObject({ passed: false, on: 'interval' });
    expect((await heams('check', 'old', '--max', 'leakage.per_scenario=0.1', '--on', 'point')).code).toBe(exit.done);
  });

  it('holds a run against an earlier one', async () => {
    const gate = (margin: string) => heams('check', 'new', '--against', 'old', '--no-worse-than', margin);
    expect((await gate('leakage.per_scenario=0.3')).code).toBe(exit.done);
    expect((await gate('leakage.per_scenario=0.2')).code).toBe(exit.gate);
    expect((await gate('0.02')).code).toBe(exit.gate);
  });

  it('writes JUnit XML, and appends to a summary', async () => {
    const args = ['check', 'new', '--max', 'leakage.overall=0.01', '--junit', 'junit.xml', '--summary', 'summary.md'];
    await writeFile(join(dir, 'summary.md'), 'Before.\n');
    expect((await heams(...args)).code).toBe(exit.gate);
    expect(await readFile(join(dir, 'junit.xml'), 'utf8')).toContain('tests="4" failures="2"');
    const summary = await readFile(join(dir, 'summary.md'), 'utf8');
    expect(summary).toMatch(/^Before\.\n\n# HEAMS gate FAILED: 2 of 4 checks\n/);
  });

  it('refuses what it cannot understand', async () => {
    const refused = (...args: string[]) => expect(heams('check', 'old', ...args)).rejects;
    await refused('--max', 'leakage=0.1').toMatchObject({ code: 'gate_unknown_metric' });
    await refused('--max', 'leakage.overall').toMatchObject({ code: 'gate_bad_limit' });
    await refused('--against', 'new').toMatchObject({ code: 'gate_bad_limit' });
    await refused().toMatchObject({ code: 'gate_no_limit' });
    await refused('--allow-unjudged', '2').toBeInstanceOf(CommanderError);
    await refused('--max', 'leakage.overall=1', '--junit', 'no/such/folder.xml').toMatchObject({
      code: 'gate_write_failed',
    });
  });
});
