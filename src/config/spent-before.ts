import { addCounts } from '../lib/add-counts.ts';
import type { Journal } from '../models/journal.ts';
import { emptyStageUsage, type StageUsage, stages } from '../schema/usage.ts';
import type { RunFolder } from '../store/run-folder.ts';

/**
 * What earlier sittings of a run have spent: a budget is a run's, however often it is resumed. Records say what their
 * jobs cost; for jobs that were given up before their record, the journal does.
 */
export async function spentBefore(
  folder: RunFolder,
  experiments: readonly string[],
  journal: Journal,
): Promise<StageUsage> {
  const spent = emptyStageUsage();
  const recorded = new Set<string>();
  for (const experiment of experiments) {
    for await (const record of folder.records(experiment)) {
      recorded.add(record.key);
      for (const stage of stages) addCounts(spent, record.usage[stage]);
    }
  }
  addCounts(spent, await journal.spentOnOthers(recorded));
  return spent;
}
