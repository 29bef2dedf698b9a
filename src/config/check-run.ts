import type { Env } from '../lib/env-references.ts';
import { checkCache } from './check-cache.ts';
import { checkModels, modelUses } from './check-models.ts';
import { checkRequirements } from './check-requirements.ts';
import type { Run } from './run.ts';

/**
 * Everything that a run refuses before it claims its folder: models and keys, packages and variables, a cost limit over a
 * model without a price, a cache that cannot be written to. A run, a dry run and `heams validate` all ask this.
 */
export async function checkRun(run: Run, env: Env): Promise<void> {
  checkModels(run, env);
  checkRequirements(run, env);
  const { checkBudget } = await import('../models/with-budget.ts');
  checkBudget(
    modelUses(run).map((use) => use.settings),
    run.settings.budget,
  );
  await checkCache(run);
}
