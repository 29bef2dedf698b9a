import { type Block, code, heading, paragraph, type Rich, table } from '../../report/document.ts';
import { countText, plural, rateText } from '../../report/format.ts';
import type { CiMetrics, PoolMetrics } from '../../schema/ci-metrics.ts';
import { rateCell } from './report-rates.ts';

type Span = PoolMetrics['facts'];

const meanText = (mean: number): string => (Number.isInteger(mean) ? countText(mean) : mean.toFixed(1));

/** `7.4 (4 to 12)`; one number where all are alike. */
const spanText = ({ mean, min, max }: Span): string =>
  min === max ? countText(min) : `${meanText(mean)} (${countText(min)} to ${countText(max)})`;

/** The pool of a sample in a few words. */
export function poolText({ facts, distractors, sessions }: PoolMetrics): string {
  return [
    `${spanText(facts)} facts a sample`,
    ...(distractors.max > 0 ? [`${spanText(distractors)} of them from other samples`] : []),
    ...(sessions.max > 0 ? [`in ${spanText(sessions)} ${sessions.max === 1 ? 'session' : 'sessions'}`] : []),
  ].join(', ');
}

/** What says that a memory had nothing to choose; nothing where it had. */
export function coveredNote({ pool, recall_quality: { requested_k: ks }, counts }: CiMetrics): Rich | undefined {
  const { covered } = pool;
  if (covered === 0) return undefined;
  const what = counts.records === counts.samples ? 'sample' : 'record';
  const of = countText(counts.records);
  return `For ${countText(covered)} of ${of} ${what}s top_k (${ks.join(', ')}) is at or above the pool: there this memory returns everything it holds, as full_context does. Lower top_k, or give the benchmark a haystack.`;
}

/** How well each memory chose, beside what reached the agent and what the message gave away. */
export function memorySection(arms: readonly CiMetrics[]): Block[] {
  if (arms.every(({ recall_quality }) => !recall_quality.recall.defined)) return [];
  const right = (title: string) => ({ title, align: 'right' as const });
  const titles = ['Facts', 'k', 'Recall@k', 'Precision@k', 'Secrets recalled', 'Leakage, per scenario'];
  return [
    heading(2, 'What the memories brought'),
    paragraph(
      'Recall@k: of the facts with an allowed value, those that came back. Precision@k: of the items that came back, those from such a fact; a fact of another sample is never one. Both are over samples whose agent searched a memory that names its sources. Recall without precision is a memory that returns everything.',
    ),
    table(
      'Recall quality beside privacy, with 95 % intervals',
      [{ title: 'Arm' }, ...titles.map(right)],
      arms.map(({ identity, pool, recall_quality: { recall, precision, requested_k }, exposure, leakage }) => [
        { text: code(identity.experiment) },
        { text: spanText(pool.facts), ...(pool.distractors.max > 0 ? { detail: ofOthers(pool) } : {}) },
        {
          text: requested_k.length === 0 ? '–' : requested_k.join(', '),
          ...(pool.covered > 0 ? { detail: `at or above the pool for ${plural(pool.covered, 'record')}` } : {}),
        },
        rateCell(recall),
        rateCell(precision),
        rateCell(exposure.secret.recalled_share),
        rateText(leakage.per_scenario),
      ]),
    ),
  ];
}

const ofOthers = ({ distractors }: PoolMetrics): string => `${spanText(distractors)} from other samples`;
