import { describe, expect, it } from 'vitest';
import { ciSample } from '../../../test/support/ci-sample.ts';
import { FAKE_JUDGE, fakeDone } from '../../../test/support/fake-records.ts';
import { type Random, seededRandom } from '../../lib/random.ts';
import type { SampleRecord } from '../../schema/record.ts';
import type { AuditOutcome } from './audit-judge.ts';
import { type CountOptions, corrections, countRun } from './audit-judge-correct.ts';

const judge = FAKE_JUDGE.id;

const corrected = async ({ outcomes, ...run }: CountOptions & { outcomes: AuditOutcome[] }) =>
  corrections(
    outcomes,
    run.judges.map(({ id }) => id),
    await countRun(run),
  );

async function* each(records: readonly SampleRecord[]): AsyncGenerator<SampleRecord> {
  yield* records;
}

/** A judge whose chance of being right differs from cluster to cluster, evenly around its mean. */
const around = (mean: number, random: Random): number => mean + (random() - 0.5) * 0.1;

function auditOf(
  random: Random,
  clusters: number,
  rates: { sensitivity: number; specificity: number },
): AuditOutcome[] {
  return Array.from({ length: clusters }, (_, i) => {
    const sample = { ...ciSample(), id: `s${i}`, cluster: `c${i}` };
    const own = { sensitivity: around(rates.sensitivity, random), specificity: around(rates.specificity, random) };
    return [...Array(9).keys()].map((n): AuditOutcome => {
      const truth = n < 6;
      const right = random() < (truth ? own.sensitivity : own.specificity);
      return {
        case: {
          sample,
          item: { side: 'secret', index: 0 },
          key: 'k',
          kind: truth ? 'verbatim' : 'absent',
          truth,
          message: '',
        },
        verdicts: { [judge]: { status: 'judged', value: right ? truth : !truth } },
      };
    });
  }).flat();
}

describe('corrections', () => {
  it('hold the truth in at least 90 of 100 seeded audits of runs whose items share their luck', async () => {
    const rates = { sensitivity: 0.85, specificity: 0.92 };
    let held = 0;
    for (let seed = 0; seed < 100; seed++) {
      const random = seededRandom('corrections', seed);
      const outcomes = auditOf(random, 30, rates);
      const truths: boolean[] = [];
      const records = Array.from({ length: 80 }, (_, i) => {
        // Some samples leak most of their secrets, most leak hardly any.
        const leaks = random() < 0.3 ? 0.7 : 0.05;
        const secrets = Array.from({ length: 3 }, () => {
          const truth = random() < leaks;
          truths.push(truth);
          const right = random() < around(truth ? rates.sensitivity : rates.specificity, random);
          return right === truth ? ('yes' as const) : ('no' as const);
        });
        return fakeDone({ id: `r${i}`, secrets });
      });
      const [overall] = await corrected({
        outcomes,
        judges: [FAKE_JUDGE],
        folder: 'results',
        experiments: [{ name: 'arm', records: each(records) }],
      });
      // The expected leakage, 0.3 * 0.7 + 0.7 * 0.05: the interval is about scenarios that might have been drawn.
      const truth = 0.245;
      const found = overall?.corrected;
      if (found?.defined && found.low <= truth && truth <= found.high) held += 1;
    }
    expect(held).toBeGreaterThanOrEqual(90);
  });

  it('gives every experiment its own, by hand', async () => {
    const at = (id: string, value: boolean, truth: boolean): AuditOutcome => ({
      case: {
        sample: { ...ciSample(), id, cluster: id },
        ...{ item: { side: 'secret', index: 0 }, key: 'k', kind: truth ? 'verbatim' : 'absent', truth, message: '' },
      },
      verdicts: { [judge]: { status: 'judged', value } },
    });
    // Sensitivity 8/10, specificity 9/10.
    const outcomes = [...Array(10).keys()].flatMap((n) => [at(`y${n}`, n < 8, true), at(`n${n}`, n === 0, false)]);
    const arm = (experiment: string, yes: number) =>
      Array.from({ length: 20 }, (_, i) =>
        fakeDone({ id: `r${i}`, experiment, secrets: [i < yes ? 'yes' : 'no', 'open'] }),
      );
    const found = await corrected({
      outcomes,
      judges: [FAKE_JUDGE, { id: 'ci_llm_judge:absent', type: 'ci_llm_judge' }],
      folder: 'results',
      experiments: [
        { name: 'a', records: each(arm('a', 10)) },
        { name: 'b', records: each(arm('b', 4)) },
      ],
    });
    const values = found
      .filter(({ side }) => side === 'secret')
      .map(({ experiment, apparent, corrected }) => [
        experiment,
        apparent.defined && apparent.value,
        apparent.unjudged,
        corrected.defined && Number(corrected.value.toFixed(6)),
      ]);
    // (0.35 - 0.1) / 0.7, (0.5 - 0.1) / 0.7, (0.2 - 0.1) / 0.7
    expect(values).toEqual([
      [undefined, 0.35, 40, 0.357143],
      ['a', 0.5, 20, 0.571429],
      ['b', 0.2, 20, 0.142857],
    ]);
    expect(found.filter(({ side }) => side === 'field').every(({ corrected }) => !corrected.defined)).toBe(true);
  });

  it('refuses a run that another judge graded', async () => {
    const other = { id: 'ci_llm_judge:openai:other', type: 'ci_llm_judge' as const };
    const records = [fakeDone({ id: 'r', secrets: ['yes'], primary: other })];
    const options = {
      judges: [FAKE_JUDGE],
      folder: 'results',
      experiments: [{ name: 'a', records: each(records) }],
    };
    await expect(countRun(options)).rejects.toMatchObject({ code: 'audit_other_judge', where: { file: 'results' } });
    // The same model with other prompts is another judge.
    const before = { ...FAKE_JUDGE, identity: 'aaaa' };
    const graded = [fakeDone({ id: 'r', secrets: ['yes'], primary: before })];
    const asked = { ...options, experiments: [{ name: 'a', records: each(graded) }] };
    await expect(countRun({ ...asked, judges: [{ ...before, identity: 'bbbb' }] })).rejects.toMatchObject({
      code: 'audit_other_judge',
      found: 'aaaa',
    });
  });
});
