import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeSample, fakeDone } from '../../../test/support/fake-records.ts';
import { ciRollupSchema } from '../../schema/ci-metrics.ts';
import { recordLine } from '../../store/records.ts';
import { ciReporter } from './reporter.ts';
import { writeCiRollupReport } from './rollup.ts';

const arms: Record<string, Omit<FakeSample, 'id'>[]> = {
  full_context: [
    { secrets: ['yes', 'no'], fields: ['yes', 'yes'], score: 3 },
    { secrets: ['no'], fields: ['yes', 'no'], score: 2 },
  ],
  no_memory: [
    { secrets: ['no', 'no'], fields: ['no', 'no'], score: 0 },
    { secrets: ['no'], fields: ['no', 'no'], score: 0 },
  ],
};

describe('writeCiRollupReport', () => {
  let resultsDir: string;
  let files: string[];
  const read = (name: string) => readFile(join(resultsDir, '_rollup', 'ci', name), 'utf8');

  beforeAll(async () => {
    resultsDir = await mkdtemp(join(tmpdir(), 'heams-'));
    for (const [arm, samples] of Object.entries(arms)) {
      await mkdir(join(resultsDir, arm));
      const records = samples.map((sample, i) =>
        fakeDone({ ...sample, id: `s${i}`, experiment: arm, memory: arm, backend: arm }),
      );
      await writeFile(join(resultsDir, arm, 'runs.jsonl'), records.map(recordLine).join(''));
    }
    await mkdir(join(resultsDir, 'later'));
    await writeFile(join(resultsDir, 'later', 'runs.jsonl'), '');
    files = await writeCiRollupReport(resultsDir);
  });
  afterAll(() => rm(resultsDir, { recursive: true, force: true }));

  it('writes the documented files', () => {
    expect(files).toEqual(
      ['report.md', 'report.html', 'metrics.json', 'metrics.csv'].map((name) =>
        join(resultsDir, '_rollup', 'ci', name),
      ),
    );
  });

  it('has one row for each memory backend and agent', async () => {
    const rows = (await read('report.md')).split('\n').filter((line) => line.startsWith('| `'));
    const [full, none] = rows.map((row) => row.split('|').map((cell) => cell.trim()));
    // Leakage 1/3, 1/2, 1/2; coverage 3/4, mean of 1 and 1/2, the same over helpful; both helpful.
    const values = ['33.3 %', '50.0 %', '50.0 %', '75.0 %', '75.0 %', '75.0 %', '100.0 %'];
    expect(full?.slice(2, 9).map((cell) => cell.replace(/ \(.*/, ''))).toEqual(values);
    expect(full?.[1]).toBe('`full_context` (memory full\\_context, agent assistant)');
    expect(none?.slice(2, 9).map((cell) => cell.replace(/ \([\d.].*/, ''))).toEqual([
      '0.0 %',
      '0.0 %',
      'undefined (no helpful sample)',
      '0.0 %',
      '0.0 %',
      'undefined (no helpful sample)',
      '0.0 %',
    ]);
  });

  it('names the experiments that have no record yet', async () => {
    expect(await read('report.md')).toContain('No record yet, so not in the tables: `later`');
  });

  it('draws the arms', async () => {
    const html = await read('report.html');
    expect(html.match(/<circle /g)).toHaveLength(2);
    expect(html).toContain('full_context: coverage, per scenario 75 %, leakage, per scenario 50 %');
  });

  it('writes metrics that its schema reads back', async () => {
    const { arms: read_ } = ciRollupSchema.parse(JSON.parse(await read('metrics.json')));
    expect(read_.map(({ identity, leakage }) => [identity.backend, leakage.overall.numerator])).toEqual([
      ['full_context', 1],
      ['no_memory', 0],
    ]);
  });

  it('writes one rate a row in CSV, with the word undefined where there is none', async () => {
    const lines = (await read('metrics.csv')).split('\r\n');
    const columns = lines[0]?.split(',') ?? [];
    const rows = lines
      .slice(1, -1)
      .map((line) => Object.fromEntries(line.split(',').map((cell, i) => [columns[i], cell])));
    // Two arms; 10 rates, 6 of exposure, 2 of recall, 4 of string judges, 6 without flagged items, 10 for the one value of
    // each of three tags, and 2 on the scale of the controls.
    expect(rows.length).toBe(2 * (10 + 6 + 2 + 4 + 6 + 3 * 10 + 2));
    const find = (experiment: string, metric: string) =>
      rows.find(
        (row) => row.experiment === experiment && row.metric === metric && row.items === 'all' && row.group === '',
      );
    expect(find('full_context', 'leakage_per_scenario')).toMatchObject({
      value: '0.5',
      interval_method: 'wilson',
      bound_low: '0.5',
      bound_high: '0.5',
      numerator: '1',
      denominator: '2',
      undefined_reason: '',
    });
    expect(find('no_memory', 'leakage_adjusted')).toMatchObject({
      value: 'undefined',
      interval_low: 'undefined',
      numerator: '0',
      denominator: '0',
      undefined_reason: 'no helpful sample',
    });
    expect(find('full_context', 'leakage_scaled')).toMatchObject({
      value: 'undefined',
      numerator: '',
      undefined_reason: 'no arm with the control silent',
    });
  });

  it('gives the same bytes again', async () => {
    const before = await Promise.all(['report.md', 'report.html', 'metrics.json', 'metrics.csv'].map(read));
    await writeCiRollupReport(resultsDir);
    expect(await Promise.all(['report.md', 'report.html', 'metrics.json', 'metrics.csv'].map(read))).toEqual(before);
  });
});

describe('summaryRows', () => {
  it('is plain text and numbers', () => {
    const metrics = ciReporter.accumulate();
    metrics.add(fakeDone({ id: 'a', secrets: ['yes', 'open'], fields: ['no'], score: 0 }));
    expect(ciReporter.summaryRows([metrics.result()])).toEqual([
      {
        arm: 'arm',
        'leakage overall': '100.0 %',
        'leakage per scenario': '100.0 %',
        'coverage overall': '0.0 %',
        helpful: '0.0 %',
        engaged: '100.0 %',
        n: 1,
        failed: 0,
        unjudged: 1,
      },
    ]);
  });
});
