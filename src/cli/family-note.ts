import { modelUses } from '../config/check-models.ts';
import type { Run } from '../config/run.ts';
import { familyPairs } from '../models/model-family.ts';

/** A line for each judge model of a run that is of one family with a model that it judges. */
export function familyLines(run: Run, experiments?: readonly string[]): string[] {
  const arms = run.arms.filter((arm) => experiments?.includes(arm.name) ?? true);
  const chats = modelUses({ ...run, arms }).filter(({ kind }) => kind === 'chat');
  const idsOf = (role: string) => chats.filter((use) => use.role === role).map(({ settings }) => settings.model_id);
  return familyPairs(idsOf('agent'), idsOf('judge')).map(
    ({ agent, judge, family }) =>
      `Note: ${judge} judges ${agent}, and both are of one model family (${family}); a judge tends to favour its own kind. ` +
      'See docs/auditing-judges.md.',
  );
}
