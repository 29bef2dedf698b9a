import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakeCall } from '../../test/support/fake-call.ts';
import type { ChatReply, ChatRequest } from '../contracts/model.ts';
import { createJournal } from './journal.ts';
import type { ModelCall } from './model-call.ts';

const ask = (content: string): ChatRequest => ({ messages: [{ role: 'user', content }] });

/** Answers with a number that grows with each call, and spends three tokens. */
function countingModel() {
  let calls = 0;
  const generate: ModelCall<ChatRequest, ChatReply> = async (_request, call) => {
    calls += 1;
    call.meter.add(call.stage, { calls: 1, input_tokens: 2, output_tokens: 1, cost_usd: 0.5 });
    return { text: `answer ${calls}`, toolRequests: [], finishReason: 'stop', usage: { inputTokens: 2 }, warnings: [] };
  };
  return { generate, calls: () => calls };
}

describe('the journal of unfinished calls', () => {
  let dir: string;
  beforeEach(async () => {
    dir = join(await mkdtemp(join(tmpdir(), 'heams-')), '.calls');
  });
  afterEach(() => rm(join(dir, '..'), { recursive: true, force: true }));

  it('answers again after a crash, and counts what was first spent', async () => {
    const model = countingModel();
    const first = createJournal(dir).wrap(model.generate, 'judge');
    const before = await first(ask('a'), fakeCall({ job: 'job1' }));

    const resumed = createJournal(dir).wrap(model.generate, 'judge');
    const call = fakeCall({ job: 'job1' });
    expect(await resumed(ask('a'), call)).toEqual(before);
    expect(model.calls()).toBe(1);
    expect(call.spent.agent).toMatchObject({ calls: 1, input_tokens: 2, output_tokens: 1, cost_usd: 0.5 });
  });

  it('gives a reply back once: what is asked twice is answered twice', async () => {
    const model = countingModel();
    const first = createJournal(dir).wrap(model.generate, 'judge');
    const replies = [
      await first(ask('a'), fakeCall({ job: 'job1' })),
      await first(ask('a'), fakeCall({ job: 'job1' })),
    ];
    expect(replies.map(({ text }) => text)).toEqual(['answer 1', 'answer 2']);
    const resumed = createJournal(dir).wrap(model.generate, 'judge');
    const again = [];
    for (let i = 0; i < 3; i++) again.push((await resumed(ask('a'), fakeCall({ job: 'job1' }))).text);
    expect(again).toEqual(['answer 1', 'answer 2', 'answer 3']);
  });

  it('never answers for another job, another model or another question', async () => {
    const model = countingModel();
    await createJournal(dir).wrap(model.generate, 'judge')(ask('a'), fakeCall({ job: 'job1' }));
    const resumed = createJournal(dir);
    await resumed.wrap(model.generate, 'judge')(ask('a'), fakeCall({ job: 'job2' }));
    await resumed.wrap(model.generate, 'agent')(ask('a'), fakeCall({ job: 'job1' }));
    await resumed.wrap(model.generate, 'judge')(ask('b'), fakeCall({ job: 'job1' }));
    expect(model.calls()).toBe(4);
  });

  it('asks again for a line that a crash tore or that is not its own', async () => {
    const model = countingModel();
    await createJournal(dir).wrap(model.generate, 'judge')(ask('a'), fakeCall({ job: 'job1' }));
    const file = join(dir, 'job1.jsonl');
    const line = await readFile(file, 'utf8');
    await writeFile(file, `not json\n{"call":"x"}\n${line.slice(0, -20)}`);
    await createJournal(dir).wrap(model.generate, 'judge')(ask('a'), fakeCall({ job: 'job1' }));
    expect(model.calls()).toBe(2);
    // What was appended after the torn line is not glued to it.
    await createJournal(dir).wrap(model.generate, 'judge')(ask('a'), fakeCall({ job: 'job1' }));
    expect(model.calls()).toBe(2);
  });

  it('forgets a job whose record is stored, and removes its folder when all are', async () => {
    const model = countingModel();
    const journal = createJournal(dir);
    const wrapped = journal.wrap(model.generate, 'judge');
    await wrapped(ask('a'), fakeCall({ job: 'job1' }));
    await wrapped(ask('a'), fakeCall({ job: 'job2' }));
    await journal.forget('job1');
    expect(await readdir(dir)).toEqual(['job2.jsonl']);
    await journal.close(false);
    expect(await readdir(dir)).toEqual(['job2.jsonl']);
    await journal.close(true);
    await expect(readdir(dir)).rejects.toThrow('ENOENT');
  });

  it('knows what unfinished jobs have cost, for the budget of the run that goes on', async () => {
    const model = countingModel();
    const wrapped = createJournal(dir).wrap(model.generate, 'judge');
    for (const job of ['job1', 'job1', 'job2']) await wrapped(ask('a'), fakeCall({ job }));
    const resumed = createJournal(dir);
    expect(await resumed.spentOnOthers(new Set(['job2']))).toMatchObject({ calls: 2, input_tokens: 4, cost_usd: 1 });
    expect(await resumed.spentOnOthers(new Set())).toMatchObject({ calls: 3, output_tokens: 3, cost_usd: 1.5 });
    expect(await createJournal(join(dir, 'none')).spentOnOthers(new Set())).toMatchObject({ calls: 0 });
  });

  it('passes a failure on and keeps nothing of it', async () => {
    const wrapped = createJournal(dir).wrap(() => Promise.reject(new Error('down')), 'judge');
    await expect(wrapped(ask('a'), fakeCall({ job: 'job1' }))).rejects.toThrow('down');
    await expect(readdir(dir)).rejects.toThrow('ENOENT');
  });
});
