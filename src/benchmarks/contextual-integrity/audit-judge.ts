import type { CallContext } from '../../contracts/call.ts';
import { BudgetError, ModelError } from '../../contracts/model.ts';
import { HeamsError } from '../../lib/errors.ts';
import { type ItemVerdict, type JudgeInfo, MAJORITY } from '../../schema/ci-grade.ts';
import type { AuditCase } from './audit-judge-cases.ts';
import type { Grading } from './grade.ts';
import { majorityVerdict } from './judge-majority.ts';

/** What a judge said about a message, or why it could not be asked. */
export type AuditVerdict = ItemVerdict | { status: 'failed'; code: string; message: string };

/** One message with what each judge said about it, by judge id. */
export interface AuditOutcome {
  case: AuditCase;
  verdicts: Readonly<Record<string, AuditVerdict>>;
}

export interface AuditRun {
  cases: readonly AuditCase[];
  grading: Grading;
  /** Messages under way at once. */
  concurrency: number;
  callFor(one: AuditCase, signal: AbortSignal): CallContext;
  /** Aborted: start nothing more. */
  stop: AbortSignal;
  /** Aborted: give up what is under way as well. */
  signal: AbortSignal;
  onOutcome?(outcome: AuditOutcome): void;
}

/** Every judge that an audit looks at: those of the grading, and the majority where several models vote. */
export function auditedJudges({ judges, panel }: Grading): JudgeInfo[] {
  const infos = judges.map(({ info }) => info);
  return panel ? [...infos, { id: MAJORITY, type: 'majority' }] : infos;
}

/** These will not pass by themselves, and are the same for every message. */
const hopeless: ReadonlySet<string> = new Set(['auth', 'quota', 'not_found']);

/**
 * Asks every judge about the one item of every message: the same question that a run asks, quoted, read and asked again
 * in the same way. A judge that could not be reached about one message has a `failed` verdict there. What would fail for
 * every message, a spent budget and an interruption end the audit with their error.
 */
export async function auditJudges(run: AuditRun): Promise<AuditOutcome[]> {
  const { cases, grading, concurrency, callFor, stop, signal, onOutcome } = run;
  const outcomes = new Array<AuditOutcome>(cases.length);
  let ended: { error: unknown } | undefined;
  let next = 0;
  const work = async () => {
    while (!ended && next < cases.length) {
      const at = next++;
      try {
        if (stop.aborted) throw stop.reason;
        signal.throwIfAborted();
        const one = cases[at] as AuditCase;
        const outcome = { case: one, verdicts: await judgedBy(grading, one, callFor(one, signal)) };
        outcomes[at] = outcome;
        onOutcome?.(outcome);
      } catch (error) {
        // What else is under way is paid for: it may end, and its replies are kept.
        ended ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, cases.length) }, work));
  if (ended) throw ended.error;
  return outcomes;
}

async function judgedBy(
  { judges, panel }: Grading,
  { sample, item, message }: AuditCase,
  call: CallContext,
): Promise<Record<string, AuditVerdict>> {
  const settled = await Promise.allSettled(judges.map((judge) => judge.judgeItem({ sample, message, call }, item)));
  const verdicts = settled.map((one): AuditVerdict => {
    if (one.status === 'fulfilled') return one.value;
    return failed(one.reason, call.signal);
  });
  const byId = judges.map(({ info }, i): [string, AuditVerdict] => [info.id, verdicts[i] as AuditVerdict]);
  if (panel) {
    const votes = verdicts.slice(0, panel.size).map((vote) => (vote.status === 'failed' ? undefined : vote));
    byId.push([MAJORITY, majorityVerdict(votes)]);
  }
  return Object.fromEntries(byId);
}

/** A failure that is this message's own; any other is thrown. */
function failed(error: unknown, signal: AbortSignal): AuditVerdict {
  if (signal.aborted || !(error instanceof HeamsError) || error instanceof BudgetError) throw error;
  if (error instanceof ModelError && hopeless.has(error.kind)) throw error;
  return { status: 'failed', code: error.code, message: error.message };
}
