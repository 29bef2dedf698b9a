import { join, relative, resolve } from 'node:path';
import { loadRun } from '../config/load-run.ts';
import { builtinRegistry, loadReporters } from '../config/registry.ts';
import { packageRoot } from '../lib/shipped.ts';
import { plural } from '../report/format.ts';
import { summarize } from '../report/summarize.ts';
import { writeReportsOf, writeRollupsOf } from '../report/write-reports.ts';
import { exit, type Io } from './io.ts';
import { describeEnd, hasRecords, performRun } from './perform-run.ts';
import { commandLine } from './self.ts';
import { printSummaries } from './summary.ts';

export interface DemoOptions {
  outputDir: string;
  quiet?: boolean;
  json?: boolean;
}

const nextSteps = (results: string, io: Io): string[] => [
  '',
  'What next',
  `  Look       ${commandLine(io, `view ${results}`)}`,
  `             or open ${results}/_rollup/ci/report.html in a browser`,
  '  A key      put OPENAI_API_KEY=... into .env, then',
  `             ${commandLine(io, 'run --config configs/runs/testing/contextual_integrity_smoke.yaml --output-dir results/smoke')}`,
  '  A local    an Ollama, vLLM, LM Studio or llama.cpp server: model_id "openai-compatible:<model>" with base_url,',
  '  model      as in configs/agents/local.yaml; no key needed',
  `  Own data   ${commandLine(io, 'init')} writes a starter project with your own scenarios, agents and memories`,
  '',
  'The agents above are controls without a model: they show what each memory lays before an agent, not how a model',
  'behaves. Helpfulness is by rule here (the share of allowed fields in the message).',
];

/** `heams demo`: the whole loop, offline and without a key. */
export async function demo(options: DemoOptions, io: Io): Promise<number> {
  const quiet = options.quiet === true || options.json === true;
  const run = await loadRun(join(packageRoot(), 'configs/runs/demo.yaml'), builtinRegistry);
  const outputDir = resolve(io.cwd, options.outputDir);
  const results = relative(io.cwd, outputDir) || '.';
  if (!quiet) {
    io.out(`HEAMS demo: ${plural(run.arms.length, 'arm')} of agent and memory, offline, without a key.`);
    io.out('Each agent is asked to write a message; what the memory holds may in part not be told to its recipient.');
    io.out('');
  }
  const performed = await performRun({ run, outputDir, quiet }, io);
  if (performed.code === exit.interrupted || !hasRecords(performed.executed)) {
    io.out('Stopped. The same command goes on where it stopped.');
    return performed.code;
  }
  const reporters = await loadReporters();
  const summaries = await summarize({ resultsDir: outputDir, reporters });
  const written = [await writeReportsOf(summaries), await writeRollupsOf(outputDir, summaries)];
  if (options.json) {
    io.out(
      JSON.stringify({
        output_dir: outputDir,
        files: written.flatMap(({ files }) => files),
        experiments: performed.executed.statuses,
        exit_code: performed.code,
      }),
    );
    return performed.code;
  }
  for (const line of describeEnd(performed, io)) io.out(line);
  printSummaries(summaries, io);
  if (quiet) return performed.code;
  io.out('');
  io.out(`Reports: ${results}/<arm>/report.md and .html for each arm, ${results}/_rollup/ci/ for all of them`);
  for (const line of nextSteps(results, io)) io.out(line);
  return performed.code;
}
