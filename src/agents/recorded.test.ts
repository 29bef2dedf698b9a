import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fakeMemory, task } from '../../test/support/agent-contract.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { fakeDone, fakeFailed } from '../../test/support/fake-records.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { replySchema } from '../schema/record.ts';
import { recordLine } from '../store/records.ts';
import { type RecordedOptions, recorded } from './recorded.ts';

async function agentOf(options: Record<string, unknown>, name: string, content: string) {
  const file = join(await tempFolder(), name);
  await writeFile(file, content);
  const parsed = recorded.schema.parse(JSON.parse(JSON.stringify(options).replaceAll('FILE', file)));
  return recorded.create(parsed, fakePluginContext());
}

const lines = (...values: object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
const responses = (content: string, more = {}) =>
  agentOf({ kind: 'recorded', responses: 'FILE', ...more }, 'responses.jsonl', content);
const say = async (agent: Awaited<ReturnType<typeof responses>>, salt: string) =>
  agent.respond(task, fakeMemory(), fakeCall({ salt }));

describe('messages from a file', () => {
  it('are given for their sample and repeat, and say that nothing is known of recalls', async () => {
    const agent = await responses(
      lines({ sample_id: 's', message: 'one' }, { sample_id: 's', repeat: 1, message: '' }),
    );
    const first = await say(agent, 's#0');
    expect(replySchema.parse(first)).toEqual(first);
    expect(first).toEqual({
      message: 'one',
      prompt: [],
      recalls: [],
      tool_calls: [],
      warnings: [],
      external: { recalls_known: false },
    });
    expect((await say(agent, 's#1')).message).toBe('');
    expect(agent.recordedGrade).toBeUndefined();
  });

  it('bring what was recalled for them, where the file says', async () => {
    const recall = ['a text', { text: 'another', fact_ids: ['Name'] }];
    const agent = await responses(
      lines({ sample_id: 's', message: 'm', recall }, { sample_id: 't', message: 'm', recall: [] }),
    );
    expect(await say(agent, 's#0')).toMatchObject({
      recalls: [
        {
          query: task.query,
          items: [
            { text: 'a text', fact_ids: [] },
            { text: 'another', fact_ids: ['Name'] },
          ],
        },
      ],
      external: { recalls_known: true },
    });
    expect(await say(agent, 't#0')).toMatchObject({ recalls: [{ items: [] }], external: { recalls_known: true } });
  });

  it('are those of the named experiment alone', async () => {
    const content = lines({ sample_id: 's', message: 'a', experiment: 'x' }, { sample_id: 's', message: 'b' });
    expect((await say(await responses(content, { experiment: 'x' }), 's#0')).message).toBe('a');
    expect((await say(await responses(content), 's#0')).message).toBe('b');
  });

  it('fail where there is none, and are never an empty message', async () => {
    const agent = await responses(lines({ sample_id: 's', message: 'm' }));
    await expect(say(agent, 's#1')).rejects.toMatchObject({ code: 'response_missing' });
    await expect(say(agent, 't#0')).rejects.toMatchObject({ code: 'response_missing' });
  });

  it('are refused when the file is another than was meant', async () => {
    const content = lines({ sample_id: 's', message: 'm' });
    await expect(responses(content, { sha256: '0'.repeat(64) })).rejects.toMatchObject({
      code: 'responses_wrong_hash',
    });
  });

  it('stop when the call is aborted', async () => {
    const agent = await responses(lines({ sample_id: 's', message: 'm' }));
    const aborted = fakeCall({ salt: 's#0', signal: AbortSignal.abort(new Error('stop')) });
    await expect(agent.respond(task, fakeMemory(), aborted)).rejects.toThrow('stop');
  });
});

describe('replies of an earlier run', () => {
  const run = { kind: 'recorded', name: 'bob', run: { records: 'FILE', run_id: 'r1', agent_kind: 'llm' } };
  const graded = fakeDone({ id: 's', message: 'hello', secrets: ['yes'] });
  const { reply } = fakeDone({ id: 'late' });
  const late = { ...fakeFailed({ id: 'late', error: { stage: 'judge', code: 'model_timeout' } }), reply };
  const content = [graded, fakeFailed({ id: 'lost' }), late]
    .map((record) => recordLine(record as typeof graded))
    .join('');

  it('are given as they were, with the grade they have', async () => {
    const agent = await agentOf(run, 'runs.jsonl', content);
    expect([agent.name, agent.replays, agent.seesLabels]).toEqual(['bob', 'llm', false]);
    expect(await say(agent, 's#0')).toEqual(graded.reply);
    expect(await agent.recordedGrade?.(fakeCall({ salt: 's#0' }))).toEqual(graded.grade);
  });

  it('can be graded where only the judge had failed', async () => {
    const agent = await agentOf(run, 'runs.jsonl', content);
    expect(await say(agent, 'late#0')).toEqual(reply);
    expect(await agent.recordedGrade?.(fakeCall({ salt: 'late#0' }))).toBeUndefined();
  });

  it('fail where there is no reply, saying what had gone wrong', async () => {
    const agent = await agentOf(run, 'runs.jsonl', content);
    const lost = await say(agent, 'lost#0').catch((thrown) => thrown);
    expect(lost).toMatchObject({ code: 'recorded_failure' });
    expect(lost.message).toContain('at the stage agent: model_timeout: no answer');
    await expect(say(agent, 's#1')).rejects.toMatchObject({ code: 'recorded_missing' });
  });
});

describe('what can change an outcome', () => {
  const identity = (options: RecordedOptions) => recorded.identity?.(options);

  it('is the content of the file where it is known, and the run', () => {
    const sha256 = 'a'.repeat(64);
    const responses = 'r.jsonl';
    expect(identity({ kind: 'recorded', responses, sha256 })).toEqual({ responses: sha256, experiment: null });
    expect(identity({ kind: 'recorded', responses, experiment: 'x' })).toEqual({ responses, experiment: 'x' });
    const run = { records: 'somewhere/runs.jsonl', run_id: 'r1', agent_kind: 'llm' };
    expect(identity({ kind: 'recorded', run })).toEqual({ run_id: 'r1' });
  });

  it('either a file or a run must be named, and not both', () => {
    const run = { records: 'x', run_id: 'r1', agent_kind: 'llm' };
    expect(recorded.schema.safeParse({ kind: 'recorded' }).success).toBe(false);
    expect(recorded.schema.safeParse({ kind: 'recorded', responses: 'x', run }).success).toBe(false);
  });
});
