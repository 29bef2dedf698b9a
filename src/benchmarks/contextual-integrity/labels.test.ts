import { describe, expect, it } from 'vitest';
import { fakeDone, fakeFailed } from '../../../test/support/fake-records.ts';
import { HeamsError, HeamsErrors } from '../../lib/errors.ts';
import { renderMarkdown } from '../../report/render-markdown.ts';
import { labelAgreementSchema } from '../../schema/label-agreement.ts';
import type { SampleRecord } from '../../schema/record.ts';
import { wilsonInterval } from '../../stats/wilson.ts';
import { joinLabels } from './labels.ts';
import { consensusOf, labelAgreement } from './labels-agreement.ts';
import { parseLabels } from './labels-file.ts';
import { labelDocument } from './labels-report.ts';

const judge = 'ci_llm_judge:openai:gpt-4o-mini';

async function* each(records: readonly SampleRecord[]): AsyncGenerator<SampleRecord> {
  yield* records;
}

const records = [
  fakeDone({ id: 's1', secrets: ['yes', 'no'], fields: ['yes'], score: 3 }),
  fakeDone({ id: 's2', secrets: ['no', 'open'], fields: ['no'], score: 1 }),
  fakeFailed({ id: 's3' }),
];
const join = (csv: string) => joinLabels(parseLabels(csv, 'labels.csv'), [{ name: 'arm', records: each(records) }]);

async function errorsOf(work: () => unknown): Promise<HeamsError[]> {
  try {
    await work();
  } catch (error) {
    if (error instanceof HeamsErrors) return [...error.errors];
    if (error instanceof HeamsError) return [error];
    throw error;
  }
  return [];
}
const told = async (work: () => unknown) =>
  (await errorsOf(work)).map(({ code, where }) => [code, where?.line, where?.column]);

describe('parseLabels', () => {
  it('reads columns in any order, and a comment', () => {
    expect(
      parseLabels(
        'label,comment,item,record,rater\nYES,"a, b",secret:A: b,arm/s1/0,ann\nunsure,,helpfulness,k,ben\n',
        'f',
      ),
    ).toEqual([
      {
        ...{ record: 'arm/s1/0', side: 'secret', key: 'A: b', value: 1, rater: 'ann' },
        where: { record: { file: 'f', line: 2, column: 24 }, item: { file: 'f', line: 2, column: 12 } },
      },
      {
        ...{ record: 'k', side: 'helpfulness', key: '', rater: 'ben' },
        where: { record: { file: 'f', line: 3, column: 21 }, item: { file: 'f', line: 3, column: 9 } },
      },
    ]);
  });

  it.each([
    ['record,item\n', 'labels_bad_header', 1, 1],
    ['record,item,lable\n', 'labels_bad_header', 1, 13],
    ['record;item;label\n', 'labels_bad_header', 1, 1],
    ['record,item,label,item\n', 'labels_bad_header', 1, 19],
    ['record,item,label\n', 'labels_empty', undefined, undefined],
    ['record,item,label\na,secret:x\n', 'labels_bad_row', 2, 1],
    ['record,item,label\n,secret:x,yes\n', 'labels_bad_row', 2, 1],
    ['record,item,label\na,secrets:x,yes\n', 'labels_bad_item', 2, 3],
    ['record,item,label\na,secret:x,maybe\n', 'labels_bad_label', 2, 12],
    ['record,item,label\na,helpfulness,yes\n', 'labels_bad_label', 2, 15],
    ['record,item,label\na,field:x,2\n', 'labels_bad_label', 2, 11],
  ])('says where %j is wrong', async (csv, code, line, column) => {
    expect(await told(() => parseLabels(csv, 'f'))).toEqual([[code, line, column]]);
  });

  it('tells all that is wrong at once, up to twenty', async () => {
    const csv = `record,item,label\n${'a,secret:x,maybe\n'.repeat(30)}`;
    expect(await told(() => parseLabels(csv, 'f'))).toHaveLength(20);
  });
});

describe('joinLabels', () => {
  it('finds records by key and by path, and what each judge says', async () => {
    const key = records[0]?.key;
    const joined = await join(
      `record,item,label\n${key},secret:secret_0,yes\narm/s2/0,secret:secret_1,no\narm/s2/0,helpfulness,1\narm/s3/0,field:any,yes\n`,
    );
    expect(joined.records).toBe(3);
    expect(joined.items.map(({ sample_id, item, judges }) => [sample_id, item, judges.get(judge)])).toEqual([
      ['s1', 'secret:secret_0', 1],
      ['s2', 'secret:secret_1', 'unjudged'],
      ['s2', 'helpfulness', 1],
      ['s3', 'field:any', undefined],
    ]);
  });

  it('names records and items that are not there, and second labels', async () => {
    const csv =
      'record,item,label\narm/s9/0,helpfulness,1\nrm/s1/0,helpfulness,1\narm/s1/0,secret:secret_9,no\narm/s2/0,helpfulness,1\narm/s2/0,helpfulness,2\n';
    const errors = await errorsOf(() => join(csv));
    expect(errors.map(({ code, where, hint }) => [code, where?.line, hint])).toEqual([
      ['labels_unknown_item', 4, 'did you mean "secret:secret_0"?'],
      ['labels_duplicate', 6, 'give each rater a name of their own in the column "rater"'],
      ['labels_unknown_record', 2, undefined],
      ['labels_unknown_record', 3, 'did you mean the experiment "arm"?'],
    ]);
  });
});

describe('consensusOf', () => {
  const of = (...votes: number[]) => consensusOf({ raters: new Map(votes.map((value, i) => [`r${i}`, value])) });
  it('is what more than half say', () => {
    expect([of(1), of(1, 1, 0), of(0, 1), of(0, 1, 2), of()]).toEqual([1, 1, undefined, undefined, undefined]);
  });
});

describe('labelAgreement', () => {
  const rows = [
    // Ann and Ben on every secret; the judge says yes, no, no and nothing.
    ['arm/s1/0', 'secret:secret_0', 'yes', 'ann'],
    ['arm/s1/0', 'secret:secret_0', 'yes', 'ben'],
    ['arm/s1/0', 'secret:secret_1', 'no', 'ann'],
    ['arm/s1/0', 'secret:secret_1', 'unsure', 'ben'],
    ['arm/s2/0', 'secret:secret_0', 'yes', 'ann'],
    ['arm/s2/0', 'secret:secret_1', 'yes', 'ann'],
    ['arm/s2/0', 'secret:secret_1', 'yes', 'ben'],
    ['arm/s1/0', 'field:field_0', 'yes', 'ann'],
    ['arm/s1/0', 'field:field_0', 'no', 'ben'],
    ['arm/s1/0', 'helpfulness', '2', 'ann'],
    ['arm/s2/0', 'helpfulness', '1', 'ann'],
    ['arm/s3/0', 'helpfulness', '0', 'ann'],
  ];
  const csv = `record,item,label,rater\n${rows.map((row) => row.join(',')).join('\n')}\n`;
  const made = async () =>
    labelAgreementSchema.parse(labelAgreement(await join(csv), { heams: '0', labels: rows.length, unsure: 1 }));

  it('compares each judge with what most people say, by hand', async () => {
    const { sides, raters, disagreements } = await made();
    expect(raters).toEqual(['ann', 'ben']);
    const [secret, field, helpfulness] = sides.map(({ judges, ...side }) => ({
      ...side,
      own: judges.find((one) => one.judge === judge),
    }));
    // Rows are people (no, yes), columns the judge: one no/no, one yes/no, one yes/yes.
    expect(secret).toMatchObject({ items: 4, no_consensus: 0, own: { unjudged: 1, missing: 0 } });
    expect(secret?.own?.confusion).toEqual([
      [1, 0],
      [1, 1],
    ]);
    expect(secret?.own?.agreement).toMatchObject({ defined: true, numerator: 2, denominator: 3, unjudged: 1 });
    // By cluster 2/2 and 0/1: residuals 2/3 and -2/3, variance 2 (8/9) / 9 = 16/81, binomial (2/9) / 3 = 6/81: size 9/8.
    const { low, high } = wilsonInterval((2 / 3) * (9 / 8), 9 / 8);
    expect(secret?.own?.agreement).toMatchObject({
      interval: { low: expect.closeTo(low, 12), high: expect.closeTo(high, 12), method: 'cluster_wilson' },
    });
    // p_o 2/3, p_e 1/3 * 2/3 + 2/3 * 1/3 = 4/9: (6 - 4) / (9 - 4).
    expect(secret?.own?.kappa.defined && secret.own.kappa.value).toBeCloseTo(0.4, 12);
    // n 6, yes 3, no 3; agreeing 2 + 2 + 0: alpha = 1 - 5 * 2 / 18.
    expect(secret?.own?.alpha.defined && secret.own.alpha.value).toBeCloseTo(1 - 10 / 18, 12);
    expect(field).toMatchObject({ items: 1, no_consensus: 1, own: { agreement: { defined: false } } });
    expect(helpfulness).toMatchObject({ items: 3, own: { missing: 1, agreement: { numerator: 1, denominator: 2 } } });
    expect(disagreements.filter((one) => one.judge === judge)).toMatchObject([
      { sample_id: 's1', item: 'helpfulness', people: '2', judge_says: '3' },
      { sample_id: 's2', item: 'secret:secret_0', people: 'yes', judge_says: 'no' },
    ]);
  });

  it('compares people with each other', async () => {
    const [secret] = (await made()).sides;
    // Both labelled two items, both times yes.
    expect(secret?.raters?.pairs).toMatchObject([
      {
        first: 'ann',
        second: 'ben',
        confusion: [
          [0, 0],
          [0, 2],
        ],
        kappa: { defined: false },
      },
    ]);
  });

  it('reports, and escapes what came from outside', async () => {
    const text = renderMarkdown(labelDocument(await made()));
    expect(text).toContain('`arm/s2/0`, `secret:secret_0`: people say yes, `ci_llm_judge:openai:gpt-4o-mini` says no.');
    expect(text).toContain('On 1 item no label has a majority');
  });
});
