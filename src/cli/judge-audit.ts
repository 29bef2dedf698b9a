import { join, relative, resolve } from 'node:path';
import { auditedJudges, auditJudges } from '../benchmarks/contextual-integrity/audit-judge.ts';
import { type AuditCase, auditCases, chosenKinds } from '../benchmarks/contextual-integrity/audit-judge-cases.ts';
import { corrections, countRun } from '../benchmarks/contextual-integrity/audit-judge-correct.ts';
import { judgeAuditDocument } from '../benchmarks/contextual-integrity/audit-judge-report.ts';
import { auditFailures, auditResults, misjudged } from '../benchmarks/contextual-integrity/audit-judge-summary.ts';
import { BudgetError } from '../contracts/model.ts';
import { HeamsError } from '../lib/errors.ts';
import { safeTerminal } from '../lib/escape.ts';
import { hashOf } from '../lib/hash.ts';
import { VERSION } from '../lib/version.ts';
import { createJournal } from '../models/journal.ts';
import { createBudget } from '../models/with-budget.ts';
import { countText, percent, percentRange, plural, rateText } from '../report/format.ts';
import { renderHtml } from '../report/render-html.ts';
import { renderMarkdown } from '../report/render-markdown.ts';
import type { JudgeInfo } from '../schema/ci-grade.ts';
import { type JudgeAudit, judgeAuditSchema } from '../schema/judge-audit.ts';
import type { Rate } from '../schema/rate.ts';
import { listExperiments, readRecords } from '../store/records.ts';
import { configPath } from './config-path.ts';
import { hostOf } from './host.ts';
import { watchInterrupts } from './interrupts.ts';
import { exit, type Io } from './io.ts';
import { type AuditBench, loadAuditBench } from './judge-bench.ts';
import { planAudit } from './judge-plan.ts';
import { textTable } from './table.ts';
import { writeResults } from './write-results.ts';

export interface JudgeAuditOptions {
  benchmark: string;
  outputDir: string;
  limit: number;
  kinds?: string[];
  /** A results folder whose rates are to be corrected. */
  run?: string;
  seed: number;
  concurrency: number;
  maxCostUsd?: number;
  dryRun?: boolean;
  quiet?: boolean;
  json?: boolean;
}

/** `heams judge audit`: how often the configured judge is wrong, on messages whose truth is known. */
export async function judgeAudit(options: JudgeAuditOptions, io: Io): Promise<number> {
  const outputDir = resolve(io.cwd, options.outputDir);
  const interrupts = watchInterrupts(io);
  const journal = createJournal(join(outputDir, '.calls'));
  const budget = createBudget(options.maxCostUsd === undefined ? {} : { max_cost_usd: options.maxCostUsd });
  let complete = false;
  let bench: AuditBench | undefined;
  try {
    bench = await loadAuditBench({
      file: configPath(options.benchmark, io.cwd),
      host: hostOf(io),
      seed: options.seed,
      concurrency: options.concurrency,
      budget,
      costLimited: options.maxCostUsd !== undefined,
      journal,
      signal: interrupts.stop,
    });
    const cases = auditCases(bench.samples, { ...options, kinds: chosenKinds(options.kinds) });
    if (cases.length === 0) throw nothingToAudit(bench);
    if (options.dryRun) return planAudit(bench, cases, options, io);
    budget.add(await journal.spentOnOthers(new Set()));
    const audit = await performed({ options, bench, cases, interrupts, io });
    const files = await writeResults(outputDir, {
      'judge_audit.json': `${JSON.stringify(audit.summary, null, 2)}\n`,
      'judge_audit_messages.jsonl': audit.messages,
      'judge_audit.md': renderMarkdown(judgeAuditDocument(audit.summary)),
      'judge_audit.html': renderHtml(judgeAuditDocument(audit.summary)),
    });
    complete = audit.summary.failures.length === 0;
    if (options.json) io.out(JSON.stringify({ files, audit: audit.summary }));
    else {
      for (const line of summaryLines(audit.summary)) io.out(safeTerminal(line));
      for (const file of files) io.out(relative(io.cwd, file) || file);
    }
    return complete ? exit.done : exit.withFailures;
  } catch (error) {
    if (!interrupts.asked && !(error instanceof BudgetError)) throw error;
    const why = error instanceof BudgetError ? ` ${error.message}.` : '';
    io.note(`Stopped.${why} The same command goes on where it stopped.`);
    return interrupts.asked ? exit.interrupted : exit.stopped;
  } finally {
    interrupts.release();
    await bench?.close();
    await journal.close(complete);
  }
}

function nothingToAudit({ component }: AuditBench): HeamsError {
  return new HeamsError('no scenario of this benchmark has an item that messages could be made of', {
    code: 'audit_no_items',
    where: { file: component.file },
    expected: 'a value of 4 to 120 characters on one line that is not in the task and shares no word with its key',
  });
}

interface Performance {
  options: JudgeAuditOptions;
  bench: AuditBench;
  cases: readonly AuditCase[];
  interrupts: ReturnType<typeof watchInterrupts>;
  io: Io;
}

async function performed({ options, bench, cases, interrupts, io }: Performance) {
  const { grading, source, component } = bench;
  const judges = primaryFirst(auditedJudges(grading), grading.panel?.decides === true);
  const ids = judges.map(({ id }) => id);
  const counts = options.run === undefined ? undefined : await countedRun(resolve(io.cwd, options.run), judges);
  let done = 0;
  const outcomes = await auditJudges({
    cases,
    grading,
    concurrency: options.concurrency,
    callFor: ({ sample, message }, signal) => ({
      signal,
      stage: 'judge',
      meter: { add: () => {} },
      salt: hashOf([options.seed, sample.id, message]),
      job: hashOf(['judge_audit', sample.id]).slice(0, 32),
    }),
    stop: interrupts.stop,
    signal: interrupts.signal,
    onOutcome: () => {
      done += 1;
      if (!options.quiet && !options.json && done % 500 === 0) io.note(`${done}/${cases.length} messages judged`);
    },
  });
  const summary: JudgeAudit = judgeAuditSchema.parse({
    version: 1,
    heams: VERSION,
    benchmark: component.name,
    dataset: source,
    seed: options.seed,
    samples: new Set(cases.map(({ sample }) => sample.id)).size,
    messages: cases.length,
    judges,
    results: auditResults(outcomes, ids),
    failures: auditFailures(outcomes),
    corrections: counts ? corrections(outcomes, ids, counts) : [],
    misjudged: misjudged(outcomes, ids),
  });
  const messages = outcomes.map(({ case: { sample, item, ...one }, verdicts }) =>
    JSON.stringify({ sample_id: sample.id, side: item.side, ...one, verdicts }),
  );
  return { summary, messages: `${messages.join('\n')}\n` };
}

async function countedRun(folder: string, judges: readonly JudgeInfo[]) {
  const experiments = await listExperiments(folder);
  const records = experiments.map(({ name, runsFile }) => ({ name, records: readRecords(runsFile) }));
  return countRun({ judges, folder, experiments: records });
}

/** The judge that the metrics of a run rest on comes first. */
function primaryFirst(judges: readonly JudgeInfo[], majority: boolean): JudgeInfo[] {
  const decides = (judge: JudgeInfo) => majority && judge.type === 'majority';
  return [...judges.filter(decides), ...judges.filter((judge) => !decides(judge))];
}

const short = (rate: Rate): string =>
  rate.defined ? `${rateText(rate)} (${percentRange(rate.interval)})` : `undefined (${rate.reason})`;

function summaryLines({ messages, samples, results, corrections: corrected, failures }: JudgeAudit): string[] {
  const rows = results.flatMap(({ judge, sides }) =>
    sides.map(({ side, sensitivity, specificity, injected }) => [
      judge,
      side,
      short(sensitivity),
      short(specificity),
      short(injected.changed),
      countText(sensitivity.unjudged + specificity.unjudged),
    ]),
  );
  const head = ['judge', 'side', 'sensitivity', 'specificity', 'injections that changed it', 'unjudged'];
  const correctedRows = corrected.map(({ judge, side, experiment, apparent, corrected: result }) => [
    judge,
    experiment ?? 'all experiments',
    side === 'secret' ? 'leakage' : 'coverage',
    short(apparent),
    result.defined ? `${percent(result.value)} (${percentRange(result)})` : `undefined (${result.reason})`,
  ]);
  return [
    `${plural(messages, 'message')} from ${plural(samples, 'scenario')}`,
    ...textTable([head, ...rows], new Set([5])),
    ...(correctedRows.length === 0
      ? []
      : ['', ...textTable([['judge', 'experiment', 'rate', 'as judged', 'corrected'], ...correctedRows])]),
    ...failures.map(({ judge, count, message }) => `${plural(count, 'message')} not judged by ${judge}: ${message}`),
    '',
  ];
}
