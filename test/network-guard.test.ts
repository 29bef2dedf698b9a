import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtinRegistry } from '../src/config/registry.ts';
import {
  asksModel,
  type LoopbackServers,
  onLoopback,
  type ShippedConfig,
  shippedConfigs,
  startServers,
} from './support/guarded-arms.ts';
import { runGuarded } from './support/network-guard.ts';
import { makeProject, type Project } from './support/project.ts';

const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const pythonIsHere = ((): boolean => {
  try {
    execFileSync('python3', ['--version'], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
})();

let project: Project;
beforeAll(async () => {
  project = await makeProject();
});
afterAll(() => project.remove());

describe('the guard', () => {
  it('refuses another host, in a process, in a thread, and in what they start', { timeout: 60_000 }, async () => {
    const dead = (host: string) => `fetch('http://${host}/').catch(() => {})`;
    const script = `
      import { spawn } from 'node:child_process';
      import dgram from 'node:dgram';
      import dns from 'node:dns';
      import { Worker } from 'node:worker_threads';
      const ended = (thing, event) => new Promise((resolve) => thing.once(event, resolve));
      const quiet = (work) => { try { work(); } catch {} };
      await ${dead('192.0.2.1')};
      await ${dead('heams.invalid')};
      quiet(() => dns.resolveTxt('text.invalid', () => {}));
      quiet(() => new dns.Resolver().resolve4('resolver.invalid', () => {}));
      const socket = dgram.createSocket('udp4');
      quiet(() => socket.send('x', 9, '192.0.2.2', () => {}));
      socket.close();
      await ended(new Worker("${dead('192.0.2.3')}", { eval: true }), 'exit');
      await ended(spawn(process.execPath, ['-e', "${dead('192.0.2.4')}"], { env: {} }), 'close');
      const python = spawn('python3', ['-c', 'import socket; socket.create_connection(("192.0.2.5", 9))']);
      python.once('error', () => {});
      await ended(python, 'close');
    `;
    const { reached, home } = await runGuarded(project, ['--input-type=module', '-e', script]);
    const hosts = [
      '192.0.2.1',
      'heams.invalid',
      'text.invalid',
      'resolver.invalid',
      '192.0.2.2',
      '192.0.2.3',
      '192.0.2.4',
    ];
    for (const host of [...hosts, ...(pythonIsHere ? ['192.0.2.5'] : [])]) {
      expect(
        reached.some((line) => line.endsWith(` ${host}`)),
        host,
      ).toBe(true);
    }
    expect(home).toEqual([]);
  });
});

describe('every arm of the demo', () => {
  it('reaches no host, and leaves the home folder empty', { timeout: 180_000 }, async () => {
    const { code, stdout, reached, home } = await runGuarded(project, [main, 'demo', '--json']);
    expect(reached).toEqual([]);
    expect(home).toEqual([]);
    expect(code).toBe(0);
    const { experiments } = JSON.parse(stdout) as { experiments: { experiment: string; done: number }[] };
    expect(experiments.map(({ done }) => done)).toEqual(experiments.map(() => 72));
    expect(experiments.length).toBe(8);
  });
});

/** Plug-ins that no shipped config names, with the reason why they are not run here. */
const notCovered: Record<string, Record<string, string>> = {
  memories: { recorded: 'stands in for a memory when messages are graded again: it asks nobody' },
  agents: { recorded: 'repeats messages of an earlier run: it asks nobody' },
  defences: { recorded: 'stands in for a defence when messages are graded again: it asks nobody' },
};

describe('every plug-in, with every optional package installed', () => {
  const SAMPLES = 3;
  const all = shippedConfigs().filter(({ plugin }) => pythonIsHere || plugin !== 'command');
  let servers: LoopbackServers;
  beforeAll(async () => {
    servers = await startServers();
  }, 60_000);
  afterAll(() => servers?.close());

  it.each(['memories', 'agents', 'defences'] as const)('is covered, or listed with a reason: %s', (kind) => {
    const folder = kind === 'memories' ? 'memory' : kind;
    const covered = new Set(shippedConfigs().flatMap((one) => (one.folder === folder ? [one.plugin] : [])));
    const open = Object.keys(builtinRegistry[kind]).filter((name) => !covered.has(name));
    expect(open.sort()).toEqual(Object.keys(notCovered[kind] ?? {}).sort());
  });

  /** What each config is run with. */
  function armOf(one: ShippedConfig) {
    const shipped = (folder: ShippedConfig['folder'], name: string) =>
      all.find((other) => other.folder === folder && other.name === name) as ShippedConfig;
    const ownMemory = one.plugin === 'own_memory' || one.name.startsWith('own_memory_');
    const parts = {
      agent:
        one.folder === 'memory' ? shipped('agents', ownMemory ? 'own_memory_llm' : 'dump') : shipped('agents', 'local'),
      memory: shipped('memory', ownMemory ? 'own_memory' : 'bm25'),
      ...(one.folder === 'agents' ? { agent: one } : {}),
      ...(one.folder === 'memory' ? { memory: one } : {}),
      ...(one.folder === 'defences' ? { defence: one } : {}),
    };
    return { name: `${one.folder}-${one.name}`, parts };
  }

  it('reaches no host that its config does not name, and leaves the home folder empty', {
    timeout: 300_000,
  }, async () => {
    const arms = all.map(armOf);
    const written = arms.map(({ name, parts }) => ({
      name,
      ...Object.fromEntries(Object.entries(parts).map(([part, one]) => [part, onLoopback(one, servers)])),
    }));
    await project.write('all.yaml', {
      name: 'all',
      benchmark: {
        benchmark: 'contextual_integrity',
        dataset: { bundled: 'heams_scenarios', limit: SAMPLES },
        user_task_prompt: '{{ user_task }}',
        evaluator: { type: 'ci_string_match', variant: 'raw' },
      },
      experiments: written,
    });
    const { code, stdout, stderr, reached, home } = await runGuarded(
      project,
      [main, 'run', '--config', 'all.yaml', '--output-dir', 'results/all', '--json', '--concurrency', '8'],
      servers.env,
    );
    expect(reached).toEqual([]);
    expect(home).toEqual([]);
    expect(stderr).not.toContain('network guard');
    expect([0, 1]).toContain(code);
    const { experiments } = JSON.parse(stdout) as {
      experiments: { experiment: string; done: number; failed: number }[];
    };
    expect(experiments.map(({ experiment }) => experiment)).toEqual(arms.map(({ name }) => name));
    // The model on loopback does not make sense to every prompt, so arms that ask one may fail; no others may.
    const asks = new Set(arms.filter(({ parts }) => Object.values(parts).some(asksModel)).map(({ name }) => name));
    for (const { experiment, done, failed } of experiments) {
      expect(done + failed, experiment).toBe(SAMPLES);
      if (!asks.has(experiment)) expect(failed, experiment).toBe(0);
    }
    expect(servers.models.stats.answered).toBeGreaterThan(asks.size);
  });
});
