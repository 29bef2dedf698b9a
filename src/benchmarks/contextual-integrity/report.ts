import {
  type Block,
  code,
  type Document,
  heading,
  type Inline,
  list,
  paragraph,
  type Rich,
  table,
} from '../../report/document.ts';
import { countText, plural } from '../../report/format.ts';
import type { CiMetrics } from '../../schema/ci-metrics.ts';
import type { Json } from '../../schema/json.ts';
import { flagTable, LEFT_OUT_BY_FLAG } from './flags-report.ts';
import { namedRates } from './metric-names.ts';
import { defencePart, defenceText, unsentSection } from './report-defence.ts';
import { exposureSection } from './report-exposure.ts';
import { panelSection } from './report-judges.ts';
import { HELPFUL_BY_RULE, howToRead, isByRule, warnings } from './report-notes.ts';
import { poolText } from './report-pool.ts';
import { rateTable } from './report-rates.ts';
import { repeatsSection } from './report-repeats.ts';
import {
  breakdownSection,
  failureSection,
  judgeSection,
  spendingSection,
  stringJudgeSection,
  worstSection,
} from './report-sections.ts';
import { setupRows } from './report-setup.ts';

function codes(names: readonly string[]): Inline[] {
  if (names.length === 0) return ['none recorded'];
  return names.flatMap((name, i) => (i === 0 ? [code(name)] : [', ', code(name)]));
}

/** Who ran what, as the records say, and what it was set up with, as the config beside them says. */
function aboutTable(metrics: CiMetrics, config: Json | undefined): Block {
  const { identity, judges, primary, helpfulness_thresholds, counts, pool } = metrics;
  const rows: [string, Rich][] = [
    ['Run', codes(identity.run_ids)],
    ['Benchmark', [code(identity.benchmark)]],
    ['Agent', [code(identity.agent), ' (kind ', code(identity.agent_kind), ')']],
    ['Agent model, as it names itself', codes(identity.agent_models)],
    ['Memory', [code(identity.memory), ' (backend ', code(identity.backend), ')']],
    ['Defence', defenceText(identity)],
    ['Primary judge', codes(primary.map(({ id }) => id))],
    ['Other judges', codes(judges.filter(({ id }) => !primary.some((judge) => judge.id === id)).map(({ id }) => id))],
    ['Helpful from score', [helpfulness_thresholds.join(', ') || 'none recorded']],
    ['Samples', [`${countText(counts.samples)} distinct, in ${plural(counts.records, 'record')}`]],
    ['Done, failed', [`${countText(counts.done)} done, ${countText(counts.failed)} failed`]],
    ['Judged', [`${plural(counts.secrets, 'secret')}, ${plural(counts.fields, 'field')}`]],
    ['Pool', [poolText(pool)]],
    ['HEAMS', codes(identity.heams_versions)],
    ...setupRows(config),
  ];
  return table(
    'About this experiment',
    [{ title: 'What' }, { title: 'Value' }],
    rows.map(([name, text]) => [name, { text }]),
  );
}

function metricBlocks(metrics: CiMetrics): Block[] {
  const { unflagged } = metrics;
  const blocks: Block[] = [heading(2, 'Metrics'), rateTable('Metrics over all items', namedRates(metrics))];
  if (isByRule(metrics)) blocks.push(paragraph(HELPFUL_BY_RULE));
  const { secrets, fields } = unflagged.flagged;
  if (secrets.any + fields.any === 0) return blocks;
  return [
    ...blocks,
    heading(3, 'Without flagged items'),
    paragraph(LEFT_OUT_BY_FLAG),
    rateTable('Metrics over unflagged items', namedRates(unflagged)),
    flagTable(unflagged.flagged),
  ];
}

/** The report of one experiment. `config` is its config as it stands beside the records. */
export function ciReport(metrics: CiMetrics, config?: Json): Document {
  const { identity } = metrics;
  const notes = warnings(metrics);
  return {
    title: `Contextual Integrity: ${identity.experiment}`,
    subtitle: [`Agent ${identity.agent} with memory ${identity.memory}`, ...defencePart(identity)].join(', '),
    blocks: [
      ...(notes.length > 0 ? [heading(2, 'Read this first'), list(notes)] : []),
      ...metricBlocks(metrics),
      heading(2, 'Setup'),
      aboutTable(metrics, config),
      ...breakdownSection(metrics),
      ...repeatsSection(metrics),
      ...exposureSection(metrics),
      ...unsentSection(metrics),
      ...stringJudgeSection(metrics),
      ...panelSection(metrics),
      ...judgeSection(metrics),
      ...spendingSection(metrics),
      ...worstSection(metrics),
      ...failureSection(metrics),
      heading(2, 'How to read this'),
      list(howToRead(isByRule(metrics))),
    ],
  };
}
