import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fakeCall } from '../../test/support/fake-call.ts';
import { makeMcp, overStdio } from '../../test/support/mcp-memory.ts';
import { pool } from '../../test/support/memory-contract.ts';
import { scopeSlots } from '../run/scope-slots.ts';

const never = new AbortController().signal;

/** Command lines of running processes that hold a text. */
function running(mark: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return line.includes(mark) ? [line] : [];
    } catch {
      return [];
    }
  });
}

/** Resolves once it is so; the test's own deadline is the limit. */
async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** A server that does not end with its input and has started another program; both have the mark in their arguments. */
function stubborn() {
  const mark = `1000.${randomInt(1e9, 9e9)}`;
  return { mark, file: overStdio({ stays: true, breeds: mark }) };
}

const here = existsSync('/proc/self/cmdline');

describe.skipIf(!here)('processes (needs /proc)', { timeout: 30_000 }, () => {
  it('are gone with their scope, with what they started and with their folder', async () => {
    const { mark, file } = stubborn();
    const memory = await makeMcp({ ...file, env: { HERE: '{{ folder }}' }, agent_tools: ['environment'] });
    const scope = await memory.open('s', fakeCall());
    const folder = /"HERE":"([^"]+)"/.exec((await scope.tools?.[0]?.run({}))?.content ?? '')?.[1] as string;
    expect(existsSync(folder)).toBe(true);
    await until(() => running(mark).length === 2);
    await scope.dispose();
    await until(() => running(mark).length === 0);
    expect(existsSync(folder)).toBe(false);
    await memory.close();
  });

  it('are gone when the backend is closed over open scopes, also those that are kept for later', async () => {
    const { mark, file } = stubborn();
    const memory = await makeMcp({ ...file, reuse_processes: true });
    const first = await memory.open('a', fakeCall());
    await memory.open('b', fakeCall());
    await first.dispose();
    await until(() => running(mark).length === 4);
    await memory.close();
    await until(() => running(mark).length === 0);
  });

  it('are gone when the run is given up in the middle of a request', async () => {
    const { mark } = stubborn();
    const control = new AbortController();
    const memory = await makeMcp(overStdio({ silent: true, breeds: mark }));
    const scope = await memory.open('s', fakeCall({ signal: control.signal }));
    const asked = scope.search('x', 1);
    control.abort(new Error('Ctrl-C'));
    await expect(asked).rejects.toThrow('Ctrl-C');
    await scope.dispose();
    await until(() => running(mark).length === 0);
    await memory.close();
  });

  it('are gone when one that is starting is given up', async () => {
    const { mark } = stubborn();
    const memory = await makeMcp(overStdio({ never_starts: true, breeds: mark }));
    const control = new AbortController();
    const opening = memory.open('s', fakeCall({ signal: control.signal }));
    await until(() => running(mark).length > 0);
    control.abort(new Error('Ctrl-C'));
    await expect(opening).rejects.toThrow('Ctrl-C');
    await until(() => running(mark).length === 0);
    await memory.close();
  });

  it('are gone when HEAMS is killed, and their folder with what it was told', async () => {
    const { mark, file } = stubborn();
    const support = fileURLToPath(new URL('../../test/support', import.meta.url));
    const script = `
      import { makeMcp } from '${support}/mcp-memory.ts';
      import { fakeCall } from '${support}/fake-call.ts';
      const memory = await makeMcp(${JSON.stringify({ ...file, env: { HERE: '{{ folder }}' }, agent_tools: ['environment'] })});
      const scope = await memory.open('s', fakeCall());
      console.log(/"HERE":"([^"]+)"/.exec((await scope.tools[0].run({})).content)[1]);
    `;
    const parent = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
      cwd: support,
    });
    const folder = await new Promise<string>((resolve) =>
      parent.stdout.once('data', (text) => resolve(`${text}`.trim())),
    );
    expect(existsSync(folder)).toBe(true);
    const servers = () => running(mark).filter((line) => !line.includes('--input-type'));
    // The server, the program that it started.
    expect(servers().filter((line) => !line.startsWith('/bin/sh')).length).toBe(2);
    parent.kill('SIGKILL');
    await until(() => servers().length === 0 && !existsSync(folder));
  });

  it('are no more at once than max_concurrency, and no more in all where they are used again', async () => {
    const mark = `1000.${randomInt(1e9, 9e9)}`;
    const memory = await makeMcp({ ...overStdio({ breeds: mark }), reuse_processes: true, max_concurrency: 2 });
    const withSlot = scopeSlots(memory);
    const seen: number[] = [];
    const sample = (i: number) =>
      withSlot(never, async () => {
        const scope = await memory.open(`s${i}`, fakeCall());
        await scope.write(pool.slice(0, 2));
        seen.push(running(`sleep ${mark}`).length);
        await scope.dispose();
      });
    await Promise.all(Array.from({ length: 8 }, (_, i) => sample(i)));
    expect(seen.length).toBe(8);
    expect(Math.max(...seen)).toBeLessThanOrEqual(2);
    await memory.close();
    await until(() => running(mark).length === 0);
  });
});
