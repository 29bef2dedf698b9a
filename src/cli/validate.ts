import { assemble } from '../config/assemble.ts';
import { checkModels, modelUses } from '../config/check-models.ts';
import { checkRequirements } from '../config/check-requirements.ts';
import { loadRun } from '../config/load-run.ts';
import { builtinRegistry } from '../config/registry.ts';
import { checkBudget, createBudget } from '../models/with-budget.ts';
import { configPath } from './config-path.ts';
import { hostOf } from './host.ts';
import { exit, type Io } from './io.ts';

/** `heams validate`: configs, prompts, models, keys and dataset, without spending anything. */
export async function validate(options: { config: string; json?: boolean }, io: Io): Promise<number> {
  const run = await loadRun(configPath(options.config, io.cwd), builtinRegistry);
  checkModels(run, io.env);
  checkRequirements(run, io.env);
  checkBudget(
    modelUses(run).map((use) => use.settings),
    run.settings.budget,
  );
  const assembly = await assemble(run, hostOf(io), { budget: createBudget({}), signal: new AbortController().signal });
  try {
    const { samples, source } = assembly.loaded;
    const { benchmark } = assembly;
    // Rendering is the last thing that can go wrong before a model is asked.
    for (const sample of samples) benchmark.turns(sample);
    const models = [...new Set(modelUses(run).map((use) => use.settings.model_id))];
    const arms = run.arms.map((arm) => arm.name);
    if (options.json) {
      io.out(
        JSON.stringify({
          valid: true,
          name: run.settings.name,
          arms,
          models,
          samples: samples.length,
          dataset: source,
        }),
      );
      return exit.done;
    }
    io.out(`${run.settings.name} is valid.`);
    io.out(`  arms     ${arms.join(', ')}`);
    io.out(`  models   ${models.length > 0 ? models.join(', ') : 'none: nothing is asked of a model'}`);
    io.out(`  samples  ${samples.length}, ${run.settings.repeats} time(s) each`);
    return exit.done;
  } finally {
    await assembly.close();
  }
}
