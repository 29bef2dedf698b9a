import type { MergeOptions } from './merge.ts';
import { folder, json, list, positiveInteger, positiveNumber, quiet, shard, type Verbs } from './options.ts';

/** Verbs that run a benchmark. */
export function addRunVerbs({ add, action }: Verbs): void {
  add('demo', 'run the benchmark offline on the bundled scenarios: no key, no network')
    .option('--output-dir <folder>', 'where to write the results', 'results/demo')
    .addOption(quiet())
    .addOption(json())
    .action(action(async () => (await import('./demo.ts')).demo));

  add('run', 'run a benchmark over a matrix of agents and memories')
    .requiredOption('--config <file>', 'the run file')
    .requiredOption('--output-dir <folder>', 'where to write the results; the same folder and config resume', folder)
    .option('--limit <n>', 'take the first n samples', positiveInteger)
    .option('--experiments <names>', 'run these arms alone, separated by commas', list)
    .option('--concurrency <n>', 'samples in flight at once', positiveInteger)
    .option('--max-cost-usd <amount>', 'stop before spending more than this', positiveNumber)
    .option('--max-failures <n>', 'stop after this many failed samples', positiveInteger)
    .option('--shard <i/n>', 'take the i-th of n parts of the samples, as 3/8; `heams merge` puts them together', shard)
    .option('--dry-run', 'print the plan, the number of calls and an estimate of the cost; start nothing')
    .addOption(quiet())
    .addOption(json())
    .action(action(async () => (await import('./run.ts')).run));

  const merge = add('merge', 'put the folders of a sharded run together')
    .argument('<folders...>', 'folders that `heams run --shard` wrote')
    .requiredOption('--output-dir <folder>', 'where to write the whole run; a new folder', folder)
    .addOption(json());
  const merged = action<MergeOptions>(async () => (await import('./merge.ts')).merge);
  merge.action((folders: string[], options: Omit<MergeOptions, 'folders'>) => merged({ ...options, folders }));
}

/** Verbs that check and prepare. */
export function addSetupVerbs({ add, action }: Verbs): void {
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
}
