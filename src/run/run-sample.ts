import type { Agent } from '../contracts/agent.ts';
import type { Benchmark } from '../contracts/benchmark.ts';
import type { Clock } from '../contracts/call.ts';
import type { MemoryBackend, MemoryScope } from '../contracts/memory.ts';
import { BudgetError } from '../contracts/model.ts';
import type { SampleRecord } from '../schema/record.ts';
import { openGuarded } from './guarded-scope.ts';
import type { Job } from './plan-jobs.ts';
import { prime } from './prime.ts';
import { RecordDraft } from './record-draft.ts';

/** What one arm runs a sample with. */
export interface SampleParts {
  runId: string;
  benchmark: Benchmark;
  agent: Agent;
  memory: MemoryBackend;
  /** Names of the two configs, as the run's files give them. */
  agentName: string;
  memoryName: string;
  /** Name of the agent plug-in. */
  agentKind: string;
  /** The arm's defence, which `agent` stands behind: its name, and that of its plug-in. */
  defence?: { name: string; kind: string };
  readyTimeoutS: number;
  /** Deadline for every other answer of the memory, in seconds. */
  memoryTimeoutS: number;
  clock: Clock;
  versions: { heams: string; node: string };
}

/**
 * The path of one sample. What goes wrong in a stage is that sample's outcome and is recorded with the stage; an abort
 * or a spent budget is nobody's outcome and is thrown, so that the job runs again.
 */
export async function runSample(job: Job, parts: SampleParts, signal: AbortSignal): Promise<SampleRecord> {
  const { sample } = job;
  const { benchmark, agent, memory, readyTimeoutS, memoryTimeoutS, clock } = parts;
  const { capabilities, topK } = memory;
  const draft = new RecordDraft(job, parts, signal);
  const guard = { capabilities, facts: sample.facts, timeoutS: memoryTimeoutS, clock, signal };
  let scope: MemoryScope | undefined;
  try {
    const opened = await draft.stage('memory', (call) => openGuarded(memory, job.key, { ...guard, call }));
    scope = opened;
    const stored = await draft.stage('prime', () =>
      prime(opened, sample.facts, { capabilities, readyTimeoutS, clock, signal }),
    );
    if (!capabilities.external) draft.stored = stored;
    const reply = await draft.stage('agent', async (call) => {
      const task = {
        turns: benchmark.turns(sample),
        query: sample.task,
        variables: benchmark.variables(sample),
        ...(agent.seesLabels ? { labels: benchmark.labels(sample) } : {}),
      };
      return agent.respond(task, { scope: opened, scopeId: job.key, backend: memory.name, topK, capabilities }, call);
    });
    draft.reply = reply;
    const grade = await draft.stage('judge', async (call) => {
      const earlier = await agent.recordedGrade?.(call);
      const { provenance } = capabilities;
      const given = { sample, reply, stored, recalls: reply.recalls, provenance, call };
      return benchmark.grade(earlier === undefined ? given : { ...given, earlier });
    });
    scope = undefined;
    await draft.stage('dispose', () => opened.dispose());
    return draft.done(grade);
  } catch (error) {
    await disposeQuietly(scope);
    if (signal.aborted || error instanceof BudgetError) throw error;
    return draft.failed(error);
  }
}

/** The sample has failed already; that it could not be cleaned up after would tell nobody more. */
async function disposeQuietly(scope: MemoryScope | undefined): Promise<void> {
  try {
    await scope?.dispose();
  } catch {}
}
