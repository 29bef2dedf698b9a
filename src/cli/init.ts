import { readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { HeamsError } from '../lib/errors.ts';
import { makeFolders } from '../lib/make-folders.ts';
import { packageRoot } from '../lib/shipped.ts';
import { exit, type Io } from './io.ts';
import { commandLine } from './self.ts';

export interface InitOptions {
  dir: string;
  yes?: boolean;
  provider?: string;
}

/** A model to start with for each provider, and the line of `.env` that it needs. */
const starters = {
  openai: { model: 'openai:gpt-4o-mini', env: 'OPENAI_API_KEY=' },
  anthropic: { model: 'anthropic:claude-haiku-4-5', env: 'ANTHROPIC_API_KEY=' },
  google: { model: 'google:gemini-2.5-flash', env: 'GOOGLE_GENERATIVE_AI_API_KEY=' },
  'openai-compatible': { model: 'openai-compatible:llama3.1', env: '# a local server needs no key' },
} as const;
type Provider = keyof typeof starters;

const isProvider = (name: string): name is Provider => Object.hasOwn(starters, name);

async function chooseProvider(options: InitOptions, io: Io): Promise<Provider | undefined> {
  if (options.provider !== undefined) {
    if (isProvider(options.provider)) return options.provider;
    throw new HeamsError(`unknown provider "${options.provider}"`, {
      code: 'unknown_provider',
      expected: `one of: ${Object.keys(starters).join(', ')}`,
      found: options.provider,
    });
  }
  if (options.yes || !io.terminal) return 'openai';
  const { isCancel, select } = await import('@clack/prompts');
  const chosen = await select<Provider>({
    message: 'Which models do you want to start with?',
    options: (Object.keys(starters) as Provider[]).map((value) => ({
      value,
      label: value,
      hint: starters[value].model,
    })),
  });
  return isCancel(chosen) ? undefined : chosen;
}

/** A model on one machine has an address, takes its time, and answers few at once. */
const localSettings = '$1base_url: http://127.0.0.1:11434/v1\n$1timeout_s: 300\n$1max_connections: 2\n';

/** The shipped config with another model, and with the settings of a local server where that is what it names. */
function withModel(text: string, key: 'model_id' | 'judge_model_id', provider: Provider): string {
  const { model } = starters[provider];
  const address = provider === 'openai-compatible' ? localSettings : '';
  return text.replace(new RegExp(`^( *)${key}: .*\\n`, 'm'), `$1${key}: ${model}\n${address}`);
}

/** A local server has no price, so its runs are limited by calls. */
const limits = (provider: Provider): string =>
  provider === 'openai-compatible' ? 'max_calls: 1000' : 'max_cost_usd: 1.00';

const runFile = (provider: Provider, io: Io): string => `# Your scenarios, with and without memory. Check it first:
#   ${commandLine(io, 'validate --config configs/runs/my_run.yaml')}
name: my_run
benchmark_config_file: my_benchmark.yaml
seed: 0            # shuffles the facts of each sample; the same seed gives the same run
repeats: 1         # raise it to see how far answers vary
concurrency: 16    # samples in flight at once
budget: { ${limits(provider)} }   # the run stops cleanly here, and the same command goes on with a higher limit
experiments:
  # The floor: without memory nothing can leak and nothing can be told.
  - { name: no_memory, agent_config_file: assistant.yaml, memory_config_file: no_memory.yaml }
  - { name: full_context, agent_config_file: assistant.yaml, memory_config_file: full_context.yaml }
  - { name: bm25, agent_config_file: assistant.yaml, memory_config_file: bm25.yaml }
`;

/** What stands above the keys of the benchmark file, in place of what the shipped one says of itself. */
const benchmarkHead = `# Contextual Integrity on your own scenarios, judged by a language model. Each line of the file below is a scenario: who
# writes to whom about what, what the memory holds, and which of it may and may not be told.
`;

async function projectFiles(provider: Provider, io: Io): Promise<Map<string, string>> {
  const shipped = (path: string) => readFile(join(packageRoot(), path), 'utf8');
  const scenarios = (await shipped('datasets/heams_scenarios/scenarios.jsonl')).split('\n').slice(0, 2);
  const benchmark = withModel(
    await shipped('configs/benchmarks/bundled/contextual_integrity.yaml'),
    'judge_model_id',
    provider,
  );
  return new Map([
    ['configs/runs/my_run.yaml', runFile(provider, io)],
    [
      'configs/benchmarks/my_benchmark.yaml',
      benchmark
        .replace(/^(#.*\n)+/, benchmarkHead)
        .replace(/^( *)bundled: heams_scenarios\n/m, '$1file: ../../scenarios/my_scenarios.jsonl\n'),
    ],
    ['configs/agents/assistant.yaml', withModel(await shipped('configs/agents/assistant.yaml'), 'model_id', provider)],
    ['configs/memory/no_memory.yaml', await shipped('configs/memory/no_memory.yaml')],
    ['configs/memory/full_context.yaml', await shipped('configs/memory/full_context.yaml')],
    ['configs/memory/bm25.yaml', await shipped('configs/memory/bm25.yaml')],
    ['scenarios/my_scenarios.jsonl', `${scenarios.join('\n')}\n`],
    [
      '.env.example',
      `# Copy this file to .env and fill it in. Keep .env out of version control.\n${starters[provider].env}\n`,
    ],
    ['.gitignore', '# Keys, and what runs write.\n.env\nresults/\n'],
  ]);
}

/** `heams init`: a commented starter project. Never replaces a file that is there. */
export async function init(options: InitOptions, io: Io): Promise<number> {
  const provider = await chooseProvider(options, io);
  if (provider === undefined) return exit.interrupted;
  const dir = resolve(io.cwd, options.dir);
  const files = await projectFiles(provider, io);
  for (const name of files.keys()) {
    if (await stat(join(dir, name)).catch(() => undefined)) {
      throw new HeamsError('this file is there already', {
        code: 'init_file_exists',
        where: { file: join(dir, name) },
        hint: 'choose another folder with --dir, or remove the file; nothing was written',
      });
    }
  }
  for (const [name, text] of files) {
    await makeFolders(dirname(join(dir, name)));
    await writeFile(join(dir, name), text, { flag: 'wx' });
    io.out(`wrote ${relative(io.cwd, join(dir, name))}`);
  }
  for (const line of nextSteps(provider, dir, io)) io.out(line);
  return exit.done;
}

function nextSteps(provider: Provider, dir: string, io: Io): string[] {
  const inside = relative(io.cwd, dir);
  const key = 'cp .env.example .env, and put your key into it';
  return [
    '',
    'Next',
    ...(inside ? [`  cd ${inside}`] : []),
    ...(provider === 'openai-compatible' ? [] : [`  ${key}`]),
    ...[
      'validate --config configs/runs/my_run.yaml',
      'run --config configs/runs/my_run.yaml --output-dir results/my_run',
      'generate-report --results-dir results/my_run',
      'rollup --results-dir results/my_run',
      'view results/my_run',
    ].map((rest) => `  ${commandLine(io, rest)}`),
  ];
}
