import { assemble } from '../config/assemble.ts';
import { modelUses } from '../config/check-models.ts';
import { checkRun } from '../config/check-run.ts';
import { loadRun } from '../config/load-run.ts';
import { builtinRegistry } from '../config/registry.ts';
import { safeTerminal } from '../lib/escape.ts';
import { createBudget } from '../models/with-budget.ts';
import { configPath } from './config-path.ts';
import { hostOf } from './host.ts';
import { exit, type Io } from './io.ts';
import { poolNotes } from './pool-notes.ts';

/** `heams validate`: configs, prompts, models, keys and dataset, without spending anything. */
export async function validate(options: { config: string; json?: boolean }, io: Io): Promise<number> {
  const run = await loadRun(configPath(options.config, io.cwd), builtinRegistry);
  await checkRun(run, io.env);
  const assembly = await assemble(run, hostOf(io), { budget: createBudget({}), signal: new AbortController().signal });
  try {
    const { samples, source } = assembly.loaded;
    const { benchmark } = assembly;
    // Rendering is the last thing that can go wrong before a model is asked.
    for (const sample of samples) benchmark.turns(sample);
    const models = [...new Set(modelUses(run).map((use) => use.settings.model_id))];
    const arms = run.arms.map((arm) => arm.name);
    const defences = [...new Set(run.arms.flatMap(({ defence }) => defence?.name ?? []))];
    const warnings = poolNotes(assembly.arms, samples);
    if (options.json) {
      io.out(
        JSON.stringify({
          valid: true,
          name: run.settings.name,
          arms,
          defences,
          models,
          samples: samples.length,
          dataset: source,
          warnings,
        }),
      );
      return exit.done;
    }
    io.out(`${run.settings.name} is valid.`);
    io.out(`  arms     ${arms.join(', ')}`);
    if (defences.length > 0) io.out(`  defences ${defences.join(', ')}`);
    io.out(`  models   ${models.length > 0 ? models.join(', ') : 'none: nothing is asked of a model'}`);
    const times = run.settings.repeats === 1 ? 'once' : `${run.settings.repeats} times`;
    io.out(`  samples  ${samples.length}, ${times} each`);
    for (const warning of warnings) io.note(safeTerminal(`Note: ${warning}`));
    return exit.done;
  } finally {
    await assembly.close();
  }
}
