import type { Block } from '../contracts/document.ts';
import type { RunStatus } from '../schema/record.ts';
import type { ExperimentFolder } from '../store/records.ts';
import { readRunStatus } from '../store/run-status.ts';
import { code, heading, list } from './document.ts';

const states = {
  running: 'the run is under way, or was killed',
  stopped: 'the run was stopped',
  done: 'the run is done',
  done_with_failures: 'the run is done, with failures',
} as const;
const causes = {
  interrupted: 'interrupted',
  budget: 'its budget was spent',
  failure_limit: 'too many samples failed',
  refused: 'a key, an account or a model was refused again and again',
  error: 'an error',
} as const;

/** What an experiment lacks of its plan, by the status beside its records; nothing where it is whole or has no status. */
async function lacking({ dir }: ExperimentFolder): Promise<string | undefined> {
  let status: RunStatus | undefined;
  try {
    status = await readRunStatus(dir, { code: 'report_bad_status', hint: 'run the same `heams run` again' });
  } catch {
    return 'its run_status.json cannot be read, so nobody knows what is missing';
  }
  if (!status) return undefined;
  const { planned, done, failed, state, stop_reason } = status;
  if (done + failed >= planned && (state === 'done' || state === 'done_with_failures')) return undefined;
  const why = stop_reason ? `${states[state]}: ${causes[stop_reason]}` : states[state];
  return `${done + failed} of ${planned} planned samples have a record; ${why}`;
}

/** The head of a report over experiments that are not whole: a part of a run must not be read as the run. */
export async function incompleteBlocks(experiments: readonly ExperimentFolder[]): Promise<Block[]> {
  const items = [];
  for (const experiment of experiments) {
    const text = await lacking(experiment);
    if (text !== undefined) items.push([code(experiment.name), `: ${text}.`]);
  }
  if (items.length === 0) return [];
  return [heading(2, 'Incomplete'), list(items)];
}
