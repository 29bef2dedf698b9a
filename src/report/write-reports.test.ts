import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakeDone } from '../../test/support/fake-records.ts';
import type { Reporter } from '../contracts/reporter.ts';
import type { SampleRecord } from '../schema/record.ts';
import { recordLine } from '../store/records.ts';
import { paragraph } from './document.ts';
import { summarize } from './summarize.ts';
import { writeExperimentReports, writeRollups } from './write-reports.ts';

/** A benchmark whose only metric is the number of records. */
const counting: Reporter<{ experiment: string; count: number }> = {
  benchmark: 'contextual_integrity',
  rollupFolder: 'counts',
  accumulate() {
    let experiment = '';
    let count = 0;
    return {
      add(record) {
        experiment = record.experiment;
        count += 1;
      },
      result: () => ({ experiment, count }),
    };
  },
  masked: async (metrics) => metrics,
  report: ({ experiment, count }) => ({ title: experiment, blocks: [paragraph(`${count} records`)] }),
  rollup: (arms, empty) => ({
    document: { title: 'All', blocks: [paragraph(`empty: ${empty.join(' ')}`)] },
    json: { arms: arms.map(({ count }) => count) },
    csv: 'a\r\n',
  }),
  summaryRows: (arms) => arms.map(({ experiment, count }) => ({ arm: experiment, n: count })),
};
const reporters = new Map<string, Reporter>([['contextual_integrity', counting]]);

describe('reports of a results folder', () => {
  let resultsDir: string;
  beforeEach(async () => {
    resultsDir = await mkdtemp(join(tmpdir(), 'heams-'));
  });
  afterEach(() => rm(resultsDir, { recursive: true, force: true }));

  async function put(experiment: string, records: readonly SampleRecord[]): Promise<void> {
    const file = join(resultsDir, experiment, 'runs.jsonl');
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, records.map(recordLine).join(''));
  }
  const records = (experiment: string, ids: readonly string[]) => ids.map((id) => fakeDone({ id, experiment }));

  it('stand beside the records of each experiment', async () => {
    await put('a', records('a', ['1', '2']));
    await put('b', records('b', ['1']));
    const { files, empty } = await writeExperimentReports({ resultsDir, reporters });
    expect(files).toEqual(
      ['a/report.md', 'a/report.html', 'b/report.md', 'b/report.html'].map((name) => join(resultsDir, name)),
    );
    expect(empty).toEqual([]);
    expect(await readFile(join(resultsDir, 'a', 'report.md'), 'utf8')).toBe('# a\n\n2 records\n');
    expect((await readdir(join(resultsDir, 'a'))).sort()).toEqual(['report.html', 'report.md', 'runs.jsonl']);
  });

  it('are written again over older ones', async () => {
    await put('a', records('a', ['1']));
    await writeExperimentReports({ resultsDir, reporters });
    await put('a', records('a', ['1', '2']));
    await writeExperimentReports({ resultsDir, reporters });
    expect(await readFile(join(resultsDir, 'a', 'report.md'), 'utf8')).toBe('# a\n\n2 records\n');
  });

  it('can be had of some experiments alone', async () => {
    await put('a', records('a', ['1']));
    await put('b', records('b', ['1']));
    const { files } = await writeExperimentReports({ resultsDir, reporters, experiments: ['b'] });
    expect(files).toEqual([join(resultsDir, 'b', 'report.md'), join(resultsDir, 'b', 'report.html')]);
  });

  it('roll up into a folder of their own, and say which experiments are empty', async () => {
    await put('a', records('a', ['1', '2']));
    await put('b', []);
    const { files, empty } = await writeRollups({ resultsDir, reporters });
    const dir = join(resultsDir, '_rollup', 'counts');
    expect(files).toEqual(['report.md', 'report.html', 'metrics.json', 'metrics.csv'].map((name) => join(dir, name)));
    expect(empty).toEqual(['b']);
    expect(JSON.parse(await readFile(join(dir, 'metrics.json'), 'utf8'))).toEqual({ arms: [2] });
    expect(await readFile(join(dir, 'report.md'), 'utf8')).toContain('empty: b');
  });

  const failing = (options: Partial<Parameters<typeof summarize>[0]> = {}) =>
    summarize({ resultsDir, reporters, ...options });

  it.each([
    [
      { state: 'stopped', stop_reason: 'interrupted', planned: 72, done: 1 },
      '1 of 72 planned samples have a record; the run was stopped: interrupted.',
    ],
    [
      { state: 'running', planned: 3, done: 1 },
      '1 of 3 planned samples have a record; the run is under way, or was killed.',
    ],
    [{ state: 'odd' }, 'its run_status.json cannot be read, so nobody knows what is missing.'],
    [{ state: 'done', planned: 1, done: 1 }, undefined],
  ])('say before anything else what is missing from the plan (%j)', async (told, expected) => {
    await put('a', records('a', ['1']));
    const at = '2026-01-01T00:00:00.000Z';
    const status = {
      version: 1,
      run_id: 'r',
      experiment: 'a',
      failed: 0,
      fingerprint: 'f',
      started_at: at,
      updated_at: at,
    };
    await writeFile(join(resultsDir, 'a', 'run_status.json'), JSON.stringify({ ...status, ...told }));
    await writeExperimentReports({ resultsDir, reporters });
    await writeRollups({ resultsDir, reporters });
    for (const file of ['a/report.md', '_rollup/counts/report.md']) {
      const text = await readFile(join(resultsDir, file), 'utf8');
      if (expected === undefined) expect(text).not.toContain('Incomplete');
      else
        expect(text).toMatch(
          new RegExp(
            `^# \\w+\\n\\n## Incomplete\\n\\n- \`a\`: ${expected.replace('.json', '.json').replaceAll('_', '.{1,2}')}`,
          ),
        );
    }
  });

  it('do not take a status that cannot be opened for none', async () => {
    await put('a', records('a', ['1']));
    await mkdir(join(resultsDir, 'a', 'run_status.json'));
    await writeExperimentReports({ resultsDir, reporters });
    expect(await readFile(join(resultsDir, 'a', 'report.md'), 'utf8')).toContain('nobody knows what is missing');
  });

  it('need a folder with experiments', async () => {
    await expect(failing()).rejects.toMatchObject({ code: 'results_empty' });
    await expect(failing({ resultsDir: join(resultsDir, 'nowhere') })).rejects.toMatchObject({
      code: 'results_missing',
    });
  });

  it('need a record', async () => {
    await put('a', []);
    await expect(failing()).rejects.toMatchObject({ code: 'results_no_records', where: { file: resultsDir } });
    await put('b', records('b', ['1']));
    await expect(failing({ experiments: ['a'] })).rejects.toMatchObject({
      code: 'results_no_records',
      where: { file: join(resultsDir, 'a', 'runs.jsonl') },
    });
  });

  it('name the nearest experiment for a misspelled one', async () => {
    await put('full_context', records('full_context', ['1']));
    await expect(failing({ experiments: ['full_contxt'] })).rejects.toMatchObject({
      code: 'results_unknown_experiment',
      hint: 'did you mean "full_context"?',
    });
  });

  it('refuse a foreign line, with its place', async () => {
    await put('a', records('a', ['1']));
    await writeFile(join(resultsDir, 'a', 'runs.jsonl'), '{"hello":"world"}\n');
    await expect(failing()).rejects.toMatchObject({
      code: 'records_foreign_line',
      where: { file: join(resultsDir, 'a', 'runs.jsonl'), line: 1 },
    });
  });

  it('refuse records of a benchmark they do not know', async () => {
    await put('a', [{ ...fakeDone({ id: '1', experiment: 'a' }), benchmark: 'chess' }]);
    await expect(failing()).rejects.toMatchObject({
      code: 'report_unknown_benchmark',
      found: '"chess"',
      expected: 'contextual_integrity',
      where: { file: join(resultsDir, 'a', 'runs.jsonl') },
    });
  });

  it('say why they cannot be written', async () => {
    await put('a', records('a', ['1']));
    await writeFile(join(resultsDir, '_rollup'), 'a file in the way');
    await expect(writeRollups({ resultsDir, reporters })).rejects.toMatchObject({ code: 'report_write_failed' });
  });
});
