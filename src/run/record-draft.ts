import { type CallContext, type Meter, saltOf } from '../contracts/call.ts';
import { addCounts } from '../lib/add-counts.ts';
import { HeamsError, messageOf } from '../lib/errors.ts';
import type { Json } from '../schema/json.ts';
import { type FailureStage, type Reply, recordSchema, type SampleRecord, type StoredItem } from '../schema/record.ts';
import { emptyUsage, type Stage } from '../schema/usage.ts';
import type { Job } from './plan-jobs.ts';
import type { SampleParts } from './run-sample.ts';

/** Who pays for what is called in a stage. */
const payer: Record<FailureStage, Stage> = {
  memory: 'prime',
  prime: 'prime',
  agent: 'agent',
  judge: 'judge',
  dispose: 'prime',
};

/** Which stage made a part of the record. */
const origin: Readonly<Record<string, FailureStage>> = { stored: 'prime', reply: 'agent', grade: 'judge' };

const round = (ms: number): number => Math.round(ms * 10) / 10;

/** Gathers what happens to one sample: what each stage gave, spent and took, and which stage it got to. */
export class RecordDraft {
  stored: StoredItem[] | undefined;
  reply: Reply | undefined;
  private current: FailureStage = 'memory';
  private readonly job: Job;
  private readonly parts: SampleParts;
  private readonly signal: AbortSignal;
  private readonly usage = emptyUsage();
  private readonly spent: Partial<Record<Stage, number>> = {};
  private readonly startedAt: string;
  private readonly start: number;
  private readonly meter: Meter = {
    add: (stage, spent) => addCounts(this.usage[stage], spent),
  };

  constructor(job: Job, parts: SampleParts, signal: AbortSignal) {
    this.job = job;
    this.parts = parts;
    this.signal = signal;
    this.startedAt = new Date(parts.clock.now()).toISOString();
    this.start = parts.clock.monotonic();
  }

  /** Runs one stage, timed, with the context that its calls need. */
  async stage<T>(stage: FailureStage, work: (call: CallContext) => Promise<T>): Promise<T> {
    this.current = stage;
    const since = this.parts.clock.monotonic();
    const { signal, meter } = this;
    const salt = saltOf(this.job.sample.id, this.job.repeat);
    try {
      return await work({ signal, meter, salt, job: this.job.key, stage: payer[stage] });
    } finally {
      const took = this.parts.clock.monotonic() - since;
      this.spent[payer[stage]] = (this.spent[payer[stage]] ?? 0) + took;
    }
  }

  private common() {
    const { job, parts } = this;
    const { prime, agent, judge } = this.spent;
    return {
      run_id: parts.runId,
      benchmark: parts.benchmark.name,
      experiment: job.experiment,
      agent: parts.agentName,
      agent_kind: parts.agentKind,
      memory: parts.memoryName,
      backend: parts.memory.name,
      ...(parts.defence ? { defence: parts.defence.name, defence_kind: parts.defence.kind } : {}),
      sample_id: job.sample.id,
      cluster: job.sample.cluster,
      repeat: job.repeat,
      task: job.sample.task,
      tags: { ...job.sample.tags },
      facts: [...job.sample.facts],
      ...(job.sample.toJudge ? { to_judge: { ...job.sample.toJudge } } : {}),
      ...(this.stored ? { stored: this.stored } : {}),
      ...(this.reply ? { reply: this.reply } : {}),
      usage: this.usage,
      timings: {
        started_at: this.startedAt,
        ...(prime === undefined ? {} : { prime_ms: round(prime) }),
        ...(agent === undefined ? {} : { agent_ms: round(agent) }),
        ...(judge === undefined ? {} : { judge_ms: round(judge) }),
        total_ms: round(parts.clock.monotonic() - this.start),
      },
      versions: parts.versions,
    };
  }

  /** The record of a sample that went through; throws where a plug-in gave what no record can hold, a NaN say. */
  done(grade: Json): SampleRecord {
    const record: SampleRecord = { version: 1, status: 'done', key: this.job.key, ...this.common(), grade };
    const { error } = recordSchema.safeParse(record);
    if (!error) return record;
    const path = error.issues[0]?.path ?? [];
    this.current = origin[String(path[0])] ?? this.current;
    throw new HeamsError(`a plug-in gave what no record can hold, at ${path.join('.')}: ${error.issues[0]?.message}`, {
      code: 'record_invalid',
    });
  }

  failed(thrown: unknown): SampleRecord {
    const code = thrown instanceof HeamsError ? thrown.code : 'internal';
    const error = { stage: this.current, code, message: messageOf(thrown).slice(0, 2000) };
    const record: SampleRecord = { version: 1, status: 'failed', key: this.job.key, ...this.common(), error };
    if (recordSchema.safeParse(record).success) return record;
    // What no record can hold must not stand in a failed one either: it would spoil the whole file.
    const { stored: _stored, reply: _reply, ...rest } = record;
    return recordSchema.parse({ ...rest, usage: emptyUsage() });
  }
}
