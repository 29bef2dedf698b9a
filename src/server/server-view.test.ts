import { appendFile, mkdir, readFile, symlink, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fakeDone, fakeFailed } from '../../test/support/fake-records.ts';
import { addRecords, ciViews, statusOf } from '../../test/support/results-folder.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { compareRuns } from '../benchmarks/contextual-integrity/compare.ts';
import { parseLabels } from '../benchmarks/contextual-integrity/labels-file.ts';
import { overviewSchema, rowQuerySchema, rowsPageSchema, viewLabelsSchema, viewSampleSchema } from '../schema/view.ts';
import { LabelFile } from './label-file.ts';
import { ResultsIndex } from './results-index.ts';
import { ServerView } from './server-view.ts';

const all = rowQuerySchema.parse({});
const ask = (query: object) => rowQuerySchema.parse(query);

const leak = (experiment: string, id: string, more = {}) =>
  fakeDone({
    experiment,
    id,
    message: `I owe 3000 pounds to the bank, says ${id}.`,
    secrets: [{ key: 'Debt', value: '3000 pounds', verdict: 'yes', evidence: '3000 pounds' }, 'no'],
    fields: ['yes'],
    ...more,
  });

async function viewOf(dir: string, { mask = false } = {}) {
  const index = await ResultsIndex.open(dir, ciViews);
  await index.refresh();
  const labels = await LabelFile.open(index.dir);
  const compare = (own: string, baseline: string) => compareRuns({ runs: [{ dir: own, label: 'run' }], baseline });
  const clock = { now: () => Date.UTC(2025, 0, 1) };
  return { index, view: new ServerView({ index, labels, clock, mask, live: true, compare }) };
}

describe('the view of a results folder', () => {
  it('has an arm for each experiment, with its metrics, state and tags, and answers in the shapes the page parses', async () => {
    const dir = await tempFolder();
    await addRecords(dir, [
      leak('a', 's1'),
      fakeDone({ experiment: 'a', id: 's2', secrets: ['no'], fields: ['no'] }),
      leak('b', 's1'),
    ]);
    await statusOf(dir, 'a', { planned: 7 });
    const { view } = await viewOf(dir);
    const overview = await view.overview();
    expect(overviewSchema.parse(overview)).toEqual(overview);
    expect(
      overview.arms.map(({ experiment, state, records, planned }) => [experiment, state, records, planned]),
    ).toEqual([
      ['a', 'running', 2, 7],
      ['b', 'unknown', 1, undefined],
    ]);
    expect(overview.arms[0]?.metrics?.leakage.per_scenario).toMatchObject({ numerator: 1, denominator: 2 });
    expect(overview.tags.domain).toEqual(['Healthcare']);
    const page = await view.rows(ask({ flags: { leaked: true } }), 0, 10);
    expect(rowsPageSchema.parse(page)).toEqual(page);
    expect([page.total, page.matched, page.rows.map(({ experiment }) => experiment)]).toEqual([3, 2, ['a', 'b']]);
    const sample = await view.sample(0);
    expect(viewSampleSchema.parse(sample)).toEqual(sample);
    expect(sample.siblings.map(({ experiment }) => experiment)).toEqual(['a', 'b']);
    expect((await view.differences('a'))?.comparisons[0]?.metrics['leakage.per_scenario']).toMatchObject({
      defined: true,
    });
  });

  it('finds text in messages whatever its case, and nothing in the rest of a record', async () => {
    const dir = await tempFolder();
    await addRecords(dir, [
      fakeDone({ id: 's1', message: 'He said "PENICILLIN\\" – ü' }),
      fakeDone({ id: 's2', message: 'nothing', task: 'penicillin' }),
      fakeFailed({ id: 's3' }),
    ]);
    const { view } = await viewOf(dir);
    const found = async (text: string) => (await view.rows(ask({ text }), 0, 9)).rows.map(({ sample_id }) => sample_id);
    expect(await found('penicillin\\" – Ü')).toEqual(['s1']);
    expect(await found('penicillin')).toEqual(['s1']);
    expect(await found('absent')).toEqual([]);
  });

  it('walks from leak to leak, and knows where a row stands in a list', async () => {
    const dir = await tempFolder();
    await addRecords(dir, [
      leak('a', 's1'),
      fakeDone({ experiment: 'a', id: 's2' }),
      fakeDone({ experiment: 'a', id: 's3' }),
      leak('a', 's4'),
    ]);
    const { view } = await viewOf(dir);
    expect(await view.seek(all, 1, 1, 'leaked')).toBe(3);
    expect(await view.seek(all, 2, -1, 'leaked')).toBe(0);
    expect(await view.seek(all, 4, 1, 'leaked')).toBeUndefined();
    expect(await view.positionOf(ask({ sort: 'leaked', descending: true }), 3)).toBe(1);
    expect(await view.positionOf(ask({ flags: { leaked: false } }), 3)).toBeUndefined();
  });

  it('takes in what a run appends, a job tried again in its old row, and leaves a torn line for later', async () => {
    const dir = await tempFolder();
    const failed = fakeFailed({ experiment: 'a', id: 's1' });
    await addRecords(dir, [failed, leak('a', 's2')]);
    const { index, view } = await viewOf(dir);
    const before = index.revision;
    expect((await view.overview()).arms[0]?.metrics?.counts).toMatchObject({ records: 2, failed: 1 });
    await addRecords(dir, [leak('a', 's1')]);
    await appendFile(join(dir, 'a', 'runs.jsonl'), '{"version":1,"status":"do');
    await index.refresh();
    expect(index.revision).toBeGreaterThan(before);
    const { rows, total } = await view.rows(all, 0, 9);
    expect([total, rows.map(({ sample_id, status, leaked }) => [sample_id, status, leaked])]).toEqual([
      2,
      [
        ['s1', 'done', 1],
        ['s2', 'done', 1],
      ],
    ]);
    expect((await view.overview()).arms[0]?.metrics).toMatchObject({
      counts: { records: 2, failed: 0 },
      leakage: { per_scenario: { numerator: 2, denominator: 2 } },
    });
    expect((await view.sample(0)).message).toContain('3000');
    await addRecords(dir, [leak('c', 's9')]);
    await index.refresh();
    expect((await view.overview()).arms.map(({ experiment }) => experiment)).toEqual(['a', 'c']);
  });

  it('names a line that is no record and shows the rest', async () => {
    const dir = await tempFolder();
    await addRecords(dir, [leak('a', 's1')]);
    await appendFile(join(dir, 'a', 'runs.jsonl'), 'not a record\n');
    await addRecords(dir, [leak('a', 's2')]);
    const { view } = await viewOf(dir);
    const { unreadable, arms } = await view.overview();
    expect(unreadable.map(({ file, line }) => [file.endsWith(join('a', 'runs.jsonl')), line])).toEqual([[true, 2]]);
    expect(arms[0]?.records).toBe(2);
    expect((await view.sample(1)).row.sample_id).toBe('s2');
  });

  it('shows an arm whose records do not fit each other, without sums of them', async () => {
    const dir = await tempFolder();
    await addRecords(dir, [leak('a', 's1'), leak('a', 's2', { agent: 'another' }), leak('b', 's1')]);
    const { view } = await viewOf(dir);
    for (let look = 0; look < 2; look++) {
      const { arms, unreadable } = await view.overview();
      expect(arms.map(({ experiment, records, metrics }) => [experiment, records, metrics !== undefined])).toEqual([
        ['a', 2, false],
        ['b', 1, true],
      ]);
      expect(unreadable.map(({ message }) => message)).toEqual([
        'records of two arms in one experiment: they differ in "agent"',
      ]);
    }
  });

  it('refuses records that became fewer', async () => {
    const dir = await tempFolder();
    await addRecords(dir, [leak('a', 's1'), leak('a', 's2')]);
    const { index } = await viewOf(dir);
    await truncate(join(dir, 'a', 'runs.jsonl'), 10);
    await expect(index.refresh()).rejects.toMatchObject({ code: 'view_records_shrank' });
  });

  it('follows no link out of the folder', async () => {
    const [dir, elsewhere] = [await tempFolder(), await tempFolder()];
    await addRecords(elsewhere, [leak('theirs', 's1')]);
    await addRecords(dir, [leak('a', 's1')]);
    await symlink(join(elsewhere, 'theirs'), join(dir, 'theirs'));
    const { view } = await viewOf(dir);
    const { arms, unreadable } = await view.overview();
    expect(arms.map(({ experiment }) => experiment)).toEqual(['a']);
    expect(unreadable[0]?.message).toContain('leads out of the results folder');
  });
});

describe('masking', () => {
  it('leaves no secret in anything that is given out, and keeps the spans on their words', async () => {
    const dir = await tempFolder();
    await addRecords(dir, [leak('a', 's1', { facts: [{ id: 'f', key: 'Debt', text: 'Debt: 3000 pounds' }] })]);
    const { view } = await viewOf(dir, { mask: true });
    const sample = await view.sample(0);
    for (const given of [sample, await view.overview(), await view.rows(all, 0, 9)]) {
      expect(JSON.stringify(given)).not.toContain('3000 pounds');
    }
    const [span] = sample.spans;
    expect(sample.message?.slice(span?.start, span?.end)).toBe('[secret 1]');
  });
});

describe('labels', () => {
  const label = { experiment: 'a', sample_id: 's1', repeat: 0, item: 'secret:Debt', rater: 'Zoë' } as const;

  it('are saved beside the run and never in it, the last word of a rater counts, and the judge audit reads them', async () => {
    const dir = join(await tempFolder(), 'run');
    await addRecords(dir, [leak('a', 's1')]);
    const { view, index } = await viewOf(dir);
    await view.setLabel({ ...label, label: 'yes' });
    await view.setLabel({ ...label, item: 'field:field_0', label: 'no' });
    const answer = await view.setLabel({ ...label, item: 'secret:secret_1', label: 'unsure' });
    expect(viewLabelsSchema.parse(answer)).toEqual(answer);
    expect(answer.agreement).toMatchObject({ compared: 2, agree: 1 });
    const csv = await readFile(join(`${index.dir}.labels`, 'labels.csv'), 'utf8');
    expect(
      parseLabels(csv, 'labels.csv').map(({ record, side, key, value, rater }) => [record, side, key, value, rater]),
    ).toEqual([
      ['a/s1/0', 'secret', 'Debt', 1, 'Zoë'],
      ['a/s1/0', 'field', 'field_0', 0, 'Zoë'],
      ['a/s1/0', 'secret', 'secret_1', undefined, 'Zoë'],
    ]);
    await view.setLabel({ ...label, label: 'no' });
    await view.setLabel({ ...label, item: 'field:field_0', label: null });
    const again = await viewOf(dir);
    expect((await again.view.labels()).labels.map(({ item, label: word }) => [item, word])).toEqual([
      ['secret:Debt', 'no'],
      ['secret:secret_1', 'unsure'],
    ]);
    expect((await readFile(join(`${index.dir}.labels`, 'labels.jsonl'), 'utf8')).split('\n').length - 1).toBe(5);
  });

  it('are refused for a record that there is not, and a line that is none is named', async () => {
    const dir = join(await tempFolder(), 'run');
    await addRecords(dir, [leak('a', 's1')]);
    const { view, index } = await viewOf(dir);
    await expect(view.setLabel({ ...label, sample_id: 's2', label: 'yes' })).rejects.toMatchObject({
      code: 'view_no_row',
    });
    await mkdir(`${index.dir}.labels`, { recursive: true });
    await appendFile(join(`${index.dir}.labels`, 'labels.jsonl'), '{"label":"maybe"}\n');
    await expect(LabelFile.open(index.dir)).rejects.toMatchObject({ code: 'labels_foreign_line', where: { line: 1 } });
  });
});
