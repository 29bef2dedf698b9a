import { describe, expect, it } from 'vitest';
import { manualClock } from '../../test/support/fake-call.ts';
import {
  fakeAgent,
  fakeBenchmark,
  fakeJob,
  fakeMemory,
  fakeParts,
  fakeReply,
  fakeSample,
} from '../../test/support/fake-parts.ts';
import type { AgentMemory, Task } from '../contracts/agent.ts';
import type { GradeInput } from '../contracts/benchmark.ts';
import type { CallContext } from '../contracts/call.ts';
import { BudgetError, ModelError } from '../contracts/model.ts';
import { type FailureStage, recordSchema } from '../schema/record.ts';
import { emptyStageUsage, emptyUsage } from '../schema/usage.ts';
import { runSample, type SampleParts } from './run-sample.ts';

const never = new AbortController().signal;
const job = fakeJob({ repeat: 2 });

/** Parts of which one does this in its stage. */
function failingIn(stage: FailureStage, act: () => Promise<never>): SampleParts & { memory: { disposed: string[] } } {
  const memory = fakeMemory({
    ...(stage === 'memory' ? { open: act } : {}),
    scope: {
      ...(stage === 'prime' ? { write: act } : {}),
      ...(stage === 'dispose' ? { dispose: act } : {}),
    },
  });
  const agent = fakeAgent(stage === 'agent' ? { respond: act } : {});
  const benchmark = fakeBenchmark(stage === 'judge' ? { grade: act } : {});
  return { ...fakeParts({ agent, benchmark }), memory };
}

const stages = ['memory', 'prime', 'agent', 'judge', 'dispose'] as const;
const rejects = (error: unknown) => () => Promise.reject(error);

describe('runSample: a sample that is done', () => {
  it('gives a record of all that happened', async () => {
    const memory = fakeMemory();
    const reply = fakeReply({ message: 'See you in room 12.', warnings: ['short'] });
    const record = await runSample(job, fakeParts({ memory, agent: fakeAgent({ respond: async () => reply }) }), never);
    expect(recordSchema.parse(record)).toEqual({
      version: 1,
      status: 'done',
      key: job.key,
      run_id: 'run-1',
      benchmark: 'fake',
      experiment: 'arm',
      agent: 'fake_agent',
      agent_kind: 'fake_kind',
      memory: 'fake_memory',
      backend: 'fake_backend',
      sample_id: 's0',
      cluster: 's0',
      repeat: 2,
      task: 'Write about s0.',
      tags: { domain: 'Hospitality' },
      facts: job.sample.facts,
      stored: job.sample.facts.map(({ id, text }) => ({ text, fact_ids: [id] })),
      reply,
      usage: emptyUsage(),
      timings: { started_at: '2025-01-01T00:00:00.000Z', prime_ms: 0, agent_ms: 0, judge_ms: 0, total_ms: 0 },
      versions: { heams: '0.1.0', node: 'v20.20.0' },
      grade: { length: 19 },
    });
    expect(memory.opened).toEqual([job.key]);
    expect(memory.disposed).toEqual([job.key]);
  });

  it('hands each stage what it needs', async () => {
    const seen: { respond?: [Task, AgentMemory]; grade?: GradeInput } = {};
    const recalls = [{ query: 'room', items: [{ text: 'Room: 12', fact_ids: ['f1'] }] }];
    const agent = fakeAgent({
      respond: async (...[task, memory]) => {
        seen.respond = [task, memory];
        return fakeReply({ recalls });
      },
    });
    const benchmark = fakeBenchmark({
      grade: async (input) => {
        seen.grade = input;
        return null;
      },
    });
    const memory = fakeMemory({ capabilities: { provenance: false } });
    await runSample(job, fakeParts({ agent, benchmark, memory }), never);
    const [task, agentMemory] = seen.respond ?? [];
    expect(task).toEqual({
      turns: [{ role: 'user', content: 'Write about s0.' }],
      query: 'Write about s0.',
      variables: { user_task: 'a task' },
    });
    expect(agentMemory).toMatchObject({ topK: 3, capabilities: memory.capabilities });
    expect(seen.grade).toMatchObject({ sample: job.sample, recalls, provenance: false });
    expect(seen.grade?.stored.map(({ text }) => text)).toEqual(['Name: s0', 'Room: 12']);
  });

  it.each([true, false])('gives labels to an agent only when it says that it sees them: %s', async (seesLabels) => {
    let given: Task | undefined;
    let asked = 0;
    const benchmark = fakeBenchmark({
      labels: () => {
        asked++;
        return { allowed: [], secrets: ['12'] };
      },
    });
    const respond = async (task: Task) => {
      given = task;
      return fakeReply();
    };
    await runSample(job, fakeParts({ benchmark, agent: fakeAgent({ seesLabels, respond }) }), never);
    expect(given && 'labels' in given).toBe(seesLabels);
    expect(asked).toBe(seesLabels ? 1 : 0);
    if (seesLabels) expect(given?.labels).toEqual({ allowed: [], secrets: ['12'] });
  });

  it('adds up what each stage spends, and times it', async () => {
    const clock = manualClock(Date.UTC(2025, 0, 1, 12));
    const contexts: Record<string, CallContext> = {};
    const spend = async (name: string, call: CallContext, ms: number) => {
      contexts[name] = call;
      call.meter.add(call.stage, { calls: 1, input_tokens: 10, cost_usd: 0.25 });
      call.meter.add(call.stage, { calls: 2, retries: 1 });
      await clock.advance(ms);
    };
    const list = async () => [{ text: 'a summary', fact_ids: [] }];
    const base = fakeMemory({ scope: { dispose: () => clock.advance(7), write: () => clock.advance(20), list } });
    const memory = {
      ...base,
      capabilities: { ...base.capabilities, rewrites: true },
      async open(id: string, call: CallContext) {
        await spend('memory', call, 100.04);
        return base.open(id, call);
      },
    };
    const agent = fakeAgent({ respond: (_task, _memory, call) => spend('agent', call, 1500).then(() => fakeReply()) });
    const benchmark = fakeBenchmark({ grade: ({ call }) => spend('judge', call, 300).then(() => null) });
    const record = await runSample(job, fakeParts({ clock, memory, agent, benchmark }), never);
    const spent = { ...emptyStageUsage(), calls: 3, input_tokens: 10, cost_usd: 0.25, retries: 1 };
    expect(record.usage).toEqual({ prime: spent, defence: emptyStageUsage(), agent: spent, judge: spent });
    // The scope's opening, writing and disposal belong to priming: 100.04 + 20 + 7.
    expect(record.timings).toEqual({
      started_at: '2025-01-01T12:00:00.000Z',
      prime_ms: 127,
      agent_ms: 1500,
      judge_ms: 300,
      total_ms: 1927,
    });
    expect(Object.values(contexts).map(({ salt }) => salt)).toEqual(['s0#2', 's0#2', 's0#2']);
    expect(Object.values(contexts).map(({ stage }) => stage)).toEqual(['prime', 'agent', 'judge']);
    for (const { signal } of Object.values(contexts)) expect(signal).toBe(never);
  });

  it('does not share its facts with the record', async () => {
    const sample = fakeSample('s1');
    const record = await runSample(fakeJob({ sample }), fakeParts(), never);
    record.facts.pop();
    record.tags.domain = 'changed';
    expect(sample).toEqual(fakeSample('s1'));
  });
});

describe('runSample: a sample that fails', () => {
  it.each(stages)('is recorded with the stage when it fails in: %s', async (stage) => {
    const parts = failingIn(stage, rejects(new ModelError('auth', 'bad key', { modelId: 'openai:x' })));
    const record = await runSample(job, parts, never);
    expect(recordSchema.parse(record)).toEqual(record);
    expect(record).toMatchObject({
      status: 'failed',
      key: job.key,
      error: { stage, code: 'model_auth', message: 'bad key' },
    });
    expect('grade' in record).toBe(false);
    // What the stages before it gave is kept.
    const at = stages.indexOf(stage);
    expect([record.stored !== undefined, record.reply !== undefined]).toEqual([at > 1, at > 2]);
    const { prime_ms, agent_ms, judge_ms } = record.timings;
    expect([prime_ms, agent_ms, judge_ms]).toEqual([0, at > 1 ? 0 : undefined, at > 2 ? 0 : undefined]);
    expect(parts.memory.disposed).toEqual(stage === 'memory' ? [] : [job.key]);
  });

  it('keeps what was spent before it failed', async () => {
    const agent = fakeAgent({
      respond: async (_task, _memory, call) => {
        call.meter.add('agent', { calls: 1, output_tokens: 5 });
        throw new Error('no answer');
      },
    });
    const record = await runSample(job, fakeParts({ agent }), never);
    expect(record.usage.agent).toEqual({ ...emptyStageUsage(), calls: 1, output_tokens: 5 });
  });

  it('calls a defect internal, and keeps its message short', async () => {
    const record = await runSample(job, failingIn('judge', rejects(new TypeError('x'.repeat(5000)))), never);
    expect(record).toMatchObject({ error: { stage: 'judge', code: 'internal', message: 'x'.repeat(2000) } });
    const odd = await runSample(job, failingIn('agent', rejects('just text')), never);
    expect(odd).toMatchObject({ error: { stage: 'agent', code: 'internal', message: 'just text' } });
  });

  it('counts a task that cannot be put together as the agent stage', async () => {
    const turns = () => {
      throw new Error('undefined variable: user_task');
    };
    const memory = fakeMemory();
    const record = await runSample(job, fakeParts({ memory, benchmark: fakeBenchmark({ turns }) }), never);
    expect(record).toMatchObject({ error: { stage: 'agent', message: 'undefined variable: user_task' } });
    expect(memory.disposed).toEqual([job.key]);
  });

  it('counts a memory that lost a fact as the prime stage', async () => {
    const memory = fakeMemory({ scope: { list: async () => [] } });
    const record = await runSample(job, fakeParts({ memory }), never);
    expect(record).toMatchObject({ error: { stage: 'prime', code: 'memory_lost_facts' } });
    expect(memory.disposed).toEqual([job.key]);
  });

  it.each([
    [
      'a score that is no number',
      'agent',
      { recalls: [{ query: 'q', items: [{ text: 't', fact_ids: [], score: Number.NaN }] }] },
    ],
    ['a message that is no text', 'agent', { message: 7 as unknown as string }],
  ])('fails on %s, since no record can hold it', async (_what, stage, overrides) => {
    const agent = fakeAgent({ respond: async () => fakeReply(overrides) });
    const record = await runSample(job, fakeParts({ agent }), never);
    expect(recordSchema.parse(record)).toMatchObject({ status: 'failed', error: { stage, code: 'record_invalid' } });
    expect(record.reply).toBeUndefined();
  });

  it.each([12.5, -3, Number.NaN])(
    'fails on a usage of %d tokens, and keeps a record that can be read',
    async (tokens) => {
      const agent = fakeAgent({
        respond: async (_task, _memory, call) => {
          call.meter.add('agent', { input_tokens: tokens });
          return fakeReply();
        },
      });
      const record = await runSample(job, fakeParts({ agent }), never);
      expect(recordSchema.parse(record)).toMatchObject({ status: 'failed', error: { code: 'record_invalid' } });
    },
  );

  it('is not undone by a scope that throws at once when it is disposed of', async () => {
    const memory = fakeMemory({
      scope: {
        write: () => Promise.reject(new Error('full')),
        dispose: () => {
          throw new Error('no');
        },
      },
    });
    const record = await runSample(job, fakeParts({ memory }), never);
    expect(record).toMatchObject({ status: 'failed', error: { stage: 'prime', message: 'full' } });
  });

  it('tells the first error when the disposal fails as well', async () => {
    const memory = fakeMemory({
      scope: { write: rejects(new Error('first')), dispose: rejects(new Error('second')) },
    });
    const record = await runSample(job, fakeParts({ memory }), never);
    expect(record).toMatchObject({ error: { stage: 'prime', message: 'first' } });
    expect(memory.disposed).toEqual([job.key]);
  });
});

describe('runSample: a sample that is given up', () => {
  it.each(stages)('is thrown and not recorded when the signal aborts in: %s', async (stage) => {
    const control = new AbortController();
    const reason = new Error('interrupted');
    const parts = failingIn(stage, () => {
      control.abort(reason);
      return Promise.reject(reason);
    });
    await expect(runSample(job, parts, control.signal)).rejects.toBe(reason);
    expect(parts.memory.disposed).toEqual(stage === 'memory' ? [] : [job.key]);
  });

  it.each(stages)('is thrown and not recorded when the budget is reached in: %s', async (stage) => {
    const error = new BudgetError('spent');
    const parts = failingIn(stage, rejects(error));
    await expect(runSample(job, parts, never)).rejects.toBe(error);
    expect(parts.memory.disposed).toEqual(stage === 'memory' ? [] : [job.key]);
  });

  it('is recorded all the same when it was done by then', async () => {
    const control = new AbortController();
    const grade = async () => {
      control.abort(new Error('interrupted'));
      return null;
    };
    const record = await runSample(job, fakeParts({ benchmark: fakeBenchmark({ grade }) }), control.signal);
    expect(record.status).toBe('done');
  });
});
