import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadMemory } from '../src/config/load-memory.ts';
import { proveMemory } from '../src/config/prove-memory.ts';
import { builtinRegistry } from '../src/config/registry.ts';
import { systemClock } from '../src/lib/clock.ts';
import { type PostgresServer, postgresIsHere, startPostgres } from './support/postgres.ts';
import { makeProject, type Project, runCli, startCli, testHost } from './support/project.ts';
import { shippedMemories } from './support/shipped-memories.ts';

/** Configs that keep nothing, so that there is nothing to prove. */
const keepNothing = new Set(['no_memory']);

let project: Project;
let postgres: PostgresServer | undefined;
beforeAll(async () => {
  project = await makeProject();
  if (postgresIsHere) postgres = await startPostgres();
}, 60_000);
afterAll(async () => {
  await postgres?.stop();
  await project.remove();
});

const options = (host = testHost(project.dir)) => ({
  host,
  scopes: 16,
  concurrency: 16,
  seed: 'test',
  readyTimeoutS: 60,
  memoryTimeoutS: 60,
  signal: new AbortController().signal,
});

describe('every memory that HEAMS ships and that needs no key', async () => {
  for (const { name, component, lacks } of await shippedMemories()) {
    const title = lacks === undefined ? name : `${name} (${lacks})`;
    it.skipIf(lacks !== undefined)(`keeps its scopes apart: ${title}`, { timeout: 180_000 }, async () => {
      const { result } = await proveMemory(component, options());
      expect(result.failures).toEqual([]);
      expect(result.bleeds).toEqual([]);
      expect(result.verdict).toBe(keepNothing.has(name) ? 'unproven' : 'isolated');
      // Whatever is found by a search is in the list as well, and every canary is in one of the two rounds.
      if (!keepNothing.has(name)) expect(result.own.resumed).toMatchObject({ listed: 64, listable: 64 });
    });
  }
});

describe('memories whose store outlives the process', () => {
  it.each([
    ['sqlite', 'backend: sqlite\ntop_k: 3\nfile: facts.sqlite\n'],
    ['file_memory', 'backend: file_memory\ntop_k: 3\nfolder: notes\n'],
    ['lancedb', 'backend: lancedb\ntop_k: 3\nfolder: tables\n'],
  ])('keep their scopes apart after a crash: %s', { timeout: 180_000 }, async (name, text) => {
    const component = await loadMemory(await project.write(`${name}/memory.yaml`, text), builtinRegistry);
    const { result } = await proveMemory(component, options());
    expect(result).toMatchObject({ verdict: 'isolated', bled: 0, failures: [] });
  });

  it.skipIf(!postgresIsHere)(
    `keep their scopes apart after a crash: postgres_text${postgresIsHere ? '' : ' (PostgreSQL is not here)'}`,
    { timeout: 180_000 },
    async () => {
      const env = { DATABASE_URL: postgres?.url() ?? '' };
      const shipped = (await shippedMemories(env)).find(({ name }) => name === 'postgres_text');
      expect(shipped?.lacks).toBeUndefined();
      if (!shipped) return;
      const { result } = await proveMemory(shipped.component, options(testHost(project.dir, env)));
      expect(result).toMatchObject({ verdict: 'isolated', bled: 0, failures: [] });
    },
  );

  it('are empty for the process after one that was killed', { timeout: 180_000 }, async () => {
    await project.write('killed/configs/memory/mine.yaml', 'backend: sqlite\ntop_k: 3\nfile: ../../facts.sqlite\n');
    const dir = project.path('killed');
    const args = ['doctor', 'isolation', '--memory', 'mine', '--seed', 'k', '--json'];
    const first = startCli([...args, '--scopes', '400'], dir);
    // Killed in the middle of its work, as soon as there is a file with something in it.
    const { stat } = await import('node:fs/promises');
    const size = async () => (await stat(project.path('killed/facts.sqlite')).catch(() => undefined))?.size ?? 0;
    while ((await size()) < 100_000) await systemClock.sleep(5);
    first.kill('SIGKILL');
    expect((await first.result).signal).toBe('SIGKILL');
    const { code, stdout, stderr } = await runCli([...args, '--scopes', '16'], dir);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'isolated', bled: 0, memory: 'mine', exit_code: 0 });
    expect(code).toBe(0);
  });
});

describe('heams doctor isolation', () => {
  const run = (...args: string[]) => runCli(['doctor', 'isolation', ...args], project.dir);

  it('says what it saw, and ends with 0', async () => {
    const { code, stdout } = await run('--memory', 'bm25', '--scopes', '4', '--seed', 's');
    expect(stdout.split('\n')).toEqual([
      'bm25 (bm25): 4 scopes open at once, 116 searches, seed s',
      '  own canaries  found by search  in the list',
      '  open at once  16 of 16         16 of 16',
      '  opened again  16 of 16         16 of 16',
      "Isolated: every scope showed its own canaries and nobody else's.",
      '',
    ]);
    expect(code).toBe(0);
  });

  it('proves nothing of a memory that keeps nothing, and ends with 5', async () => {
    const { code, stdout } = await run('--memory', 'no_memory.yaml', '--scopes', '2', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'unproven', stores: false, exit_code: 5 });
    expect(code).toBe(5);
  });

  it.each([
    [['--memory', 'absent'], 'there is no memory file "absent"'],
    [['--memory', 'bm25', '--scopes', '1'], 'expected a whole number above 1'],
    [['--memory', 'zep'], 'ZEP_API_KEY is not set'],
    [['--memory', 'own_memory'], 'nobody but the agent can search'],
    [[], '--memory'],
  ])('refuses %j, and ends with 2', async (args, said) => {
    const { code, stderr } = await run(...args);
    expect(stderr).toContain(said);
    expect(code).toBe(2);
  });
});
