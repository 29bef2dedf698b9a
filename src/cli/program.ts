import { Command, InvalidArgumentError, Option } from 'commander';
import { VERSION } from '../lib/version.ts';
import type { CheckOptions } from './check.ts';
import type { CompareVerbOptions } from './compare.ts';
import type { GradeOptions } from './grade.ts';
import type { ImportVerbOptions } from './import.ts';
import type { Io } from './io.ts';
import type { JudgeLabelsOptions } from './judge-labels.ts';
import type { ParityOptions } from './parity.ts';

function positiveInteger(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('expected a whole number above 0.');
  return value;
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(value)) throw new InvalidArgumentError('expected a whole number.');
  return value;
}

function positiveNumber(text: string): number {
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value)) throw new InvalidArgumentError('expected a number above 0.');
  return value;
}

const list = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);

/** A share, as of samples. */
function share(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 1))
    throw new InvalidArgumentError('expected a share from 0 to 1.');
  return value;
}

/** An option that may be given several times. */
const gathered = (text: string, before: string[] = []): string[] => [...before, text];

/** An option whose name begins with "no", and not the opposite of one. */
function noWorseThan(): Option {
  const option = new Option('--no-worse-than <margin>', 'how much worse it may be: a share, or metric=share');
  option.negate = false;
  return option.argParser(gathered);
}

const json = () => new Option('--json', 'print the result as JSON on standard output');
const quiet = () => new Option('-q, --quiet', 'print nothing but errors and the result');
const resultsDir = () =>
  new Option('--results-dir <folder>', 'a folder that `heams run --output-dir` wrote').makeOptionMandatory();

/**
 * The command line. A command's code is loaded when it is called: `--help` must not wait for a model library.
 * `done` is told the exit code.
 */
export function buildProgram(io: Io, done: (code: number) => void): Command {
  const program = new Command('heams')
    .description(
      'Measures what an agent with memory tells those it should not, and whether it still gets the job done.',
    )
    .version(VERSION, '-V, --version')
    .showHelpAfterError('(heams --help shows what there is)')
    .configureOutput({ writeOut: (text) => io.out(text.trimEnd()), writeErr: (text) => io.note(text.trimEnd()) })
    .exitOverride();

  const add = (name: string, description: string, parent = program) =>
    parent.command(name).description(description).copyInheritedSettings(program);
  /** An action whose module is loaded when it runs. */
  const action =
    <O>(load: () => Promise<(options: O, io: Io) => Promise<number>>) =>
    async (options: O) =>
      done(await (await load())(options, io));

  add('demo', 'run the benchmark offline on the bundled scenarios: no key, no network')
    .option('--output-dir <folder>', 'where to write the results', 'results/demo')
    .addOption(quiet())
    .addOption(json())
    .action(action(async () => (await import('./demo.ts')).demo));

  add('run', 'run a benchmark over a matrix of agents and memories')
    .requiredOption('--config <file>', 'the run file')
    .requiredOption('--output-dir <folder>', 'where to write the results; the same folder and config resume')
    .option('--limit <n>', 'take the first n samples', positiveInteger)
    .option('--experiments <names>', 'run these arms alone, separated by commas', list)
    .option('--concurrency <n>', 'samples in flight at once', positiveInteger)
    .option('--max-cost-usd <amount>', 'stop before spending more than this', positiveNumber)
    .option('--max-failures <n>', 'stop after this many failed samples', positiveInteger)
    .option('--dry-run', 'print the plan, the number of calls and an estimate of the cost; start nothing')
    .addOption(quiet())
    .addOption(json())
    .action(action(async () => (await import('./run.ts')).run));

  add('generate-report', 'write report.md and report.html for every experiment of a results folder')
    .addOption(resultsDir())
    .option('--experiments <names>', 'for these alone, separated by commas', list)
    .addOption(json())
    .action(action(async () => (await import('./reports.ts')).generateReport));

  add('rollup', 'write the table over all experiments: _rollup/<benchmark>/report.md, .html, metrics.json, metrics.csv')
    .addOption(resultsDir())
    .addOption(json())
    .action(action(async () => (await import('./reports.ts')).rollup));

  add('compare', 'the arms of a run against a baseline arm, or a run against an earlier one, on the same samples')
    .argument('<run>', 'a results folder')
    .argument('[other]', 'a second results folder, which is held against the first')
    .option(
      '--baseline <experiment>',
      'the arm that the others are held against; no_memory unless told, else the first',
    )
    .option('--write', 'write compare.md, compare.html and compare.json into _rollup/ci of the last folder')
    .addOption(json())
    .action(async (run: string, other: string | undefined, options: CompareVerbOptions) =>
      done(await (await import('./compare.ts')).compare(other === undefined ? [run] : [run, other], options, io)),
    );

  add('check', 'a gate: exit code 4 when a limit does not hold')
    .argument('<run>', 'a results folder')
    .option('--max <metric=share>', 'the metric may be this high at most; may be given several times', gathered)
    .option('--min <metric=share>', 'the metric must be this high at least; may be given several times', gathered)
    .option('--experiments <names>', 'check these alone, separated by commas', list)
    .addOption(
      new Option('--on <what>', 'what decides: the unfavourable end of the 95 % interval, or the value alone')
        .choices(['interval', 'point'])
        .default('interval'),
    )
    .option('--against <run>', 'an earlier results folder that this one is held against')
    .addOption(noWorseThan())
    .option('--allow-undefined', 'let a metric pass that has no value')
    .option('--allow-unjudged <share>', 'let up to this share of unjudged, failed and missing pass', share)
    .option('--junit <file>', 'write the result as JUnit XML')
    .option('--summary <file>', 'append the result as Markdown, as to $GITHUB_STEP_SUMMARY')
    .addOption(json())
    .action(async (run: string, options: CheckOptions) =>
      done(await (await import('./check.ts')).check(run, options, io)),
    );

  add('grade', 'grade stored messages again with another judge, or messages that any system wrote')
    .argument('[run]', 'the folder of a run whose messages are graded again')
    .option('--responses <file>', 'a file of messages instead: {"sample_id", "message"} a line')
    .option('--benchmark <file>', 'the benchmark file, or a run file that names one')
    .option('--judge <model>', 'this judge model instead of the one in the benchmark file')
    .option('--name <arm>', 'name of the arm that the messages become (default "external")')
    .option('--allow-missing', 'count samples without a message as failed, instead of refusing the file')
    .requiredOption('--output-dir <folder>', 'where to write the results; the same command resumes')
    .option('--limit <n>', 'take the first n samples', positiveInteger)
    .option('--concurrency <n>', 'samples in flight at once', positiveInteger)
    .option('--max-cost-usd <amount>', 'stop before spending more than this', positiveNumber)
    .addOption(quiet())
    .addOption(json())
    .action(async (run: string | undefined, options: Omit<GradeOptions, 'run'>) =>
      done(await (await import('./grade.ts')).grade({ ...options, ...(run === undefined ? {} : { run }) }, io)),
    );

  add('parity', 'the run by the rules of published papers, each beside the corrected figure')
    .argument('<run>', 'a results folder')
    .option('--write', 'write parity.md, parity.html and parity.json into its _rollup/ci')
    .addOption(json())
    .action(async (run: string, options: ParityOptions) =>
      done(await (await import('./parity.ts')).parity(run, options, io)),
    );

  add('privacylens-verdicts', 'verdicts that were recorded for PrivacyLens', add('import', 'make a run of recordings'))
    .argument('<file>', 'a case a line, as JSON')
    .requiredOption('--output-dir <folder>', 'where to write the run')
    .addOption(quiet())
    .addOption(json())
    .action(async (file: string, options: ImportVerbOptions) =>
      done(await (await import('./import.ts')).importPrivacyLensVerdicts(file, options, io)),
    );

  add('validate', 'check a run file, its components, keys and dataset without spending anything')
    .requiredOption('--config <file>', 'the run file')
    .addOption(json())
    .action(action(async () => (await import('./validate.ts')).validate));

  add('list', 'benchmarks, memory backends, agents and providers, and what each needs')
    .addOption(json())
    .action(action(async () => (await import('./list.ts')).list));

  add('init', 'write a commented starter project')
    .option('--dir <folder>', 'where', '.')
    .option('-y, --yes', 'ask nothing')
    .option('--provider <name>', 'openai, anthropic, google or openai-compatible')
    .action(action(async () => (await import('./init.ts')).init));

  addData(add('data', 'fetch, describe and check the scenarios'));
  addJudge(add('judge', 'find out how far the judges can be trusted'));
  return program;

  function addJudge(judge: Command): void {
    add('audit', 'how often the configured judge is wrong, on messages whose truth is known', judge)
      .requiredOption('--benchmark <file>', 'a benchmark file, or a run file that names one')
      .option('--limit <n>', 'make messages from n scenarios, drawn by the seed', positiveInteger, 20)
      .option('--kinds <names>', 'these kinds of message alone; "plain" and "injections" stand for all of theirs', list)
      .option('--run <folder>', 'correct the rates of this results folder for the errors found')
      .option('--output-dir <folder>', 'where to write the audit; the same command resumes', 'results/judge_audit')
      .option('--seed <n>', 'draws scenarios, items and wordings', wholeNumber, 0)
      .option('--concurrency <n>', 'messages under way at once', positiveInteger, 16)
      .option('--max-cost-usd <amount>', 'stop before spending more than this', positiveNumber)
      .option('--dry-run', 'print the number of messages and an estimate of the cost; start nothing')
      .addOption(quiet())
      .addOption(json())
      .action(action(async () => (await import('./judge-audit.ts')).judgeAudit));
    add('labels', 'how far each judge of a run agrees with human labels', judge)
      .argument('<run>', 'a results folder')
      .requiredOption('--labels <file>', 'CSV with the columns record, item, label and, with several raters, rater')
      .option('--output-dir <folder>', 'where to write the result; <run>/_judges unless told')
      .addOption(json())
      .action(async (run: string, options: JudgeLabelsOptions) =>
        done(await (await import('./judge-labels.ts')).judgeLabels(run, options, io)),
      );
  }

  function addData(data: Command): void {
    const withSource = (command: Command) =>
      command.option('--config <file>', 'a run file or benchmark file whose dataset is meant').addOption(json());
    withSource(add('fetch', 'download the dataset, or say that it is there', data))
      .option('--refresh', 'ask the hub again even if the dataset is there')
      .action(action(async () => (await import('./data-command.ts')).fetchCommand));
    withSource(add('info', 'what the dataset holds', data)).action(
      action(async () => (await import('./data-command.ts')).infoCommand),
    );
    withSource(add('validate', 'check every row, and name every problem', data))
      .option('--file <file>', 'a file of scenarios instead of a configured dataset')
      .action(action(async () => (await import('./data-command.ts')).validateCommand));
    withSource(add('audit', 'flag what is odd about the scenarios, by rule, and say what shortcuts they allow', data))
      .option('--file <file>', 'a file of scenarios instead of a configured dataset')
      .option('--output-dir <folder>', 'write audit.json and audit.md here')
      .action(action(async () => (await import('./data-audit.ts')).auditCommand));
  }
}
