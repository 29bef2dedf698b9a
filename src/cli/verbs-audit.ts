import type { Command } from 'commander';
import type { JudgeLabelsOptions } from './judge-labels.ts';
import { json, list, positiveInteger, positiveNumber, quiet, type Verbs, wholeNumber } from './options.ts';

/** Verbs about the scenarios. */
export function addDataVerbs({ add, action }: Verbs): void {
  const data = add('data', 'fetch, describe and check the scenarios');
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

/** Verbs about the judges. */
export function addJudgeVerbs({ add, action, done, io }: Verbs): void {
  const judge = add('judge', 'find out how far the judges can be trusted');
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
