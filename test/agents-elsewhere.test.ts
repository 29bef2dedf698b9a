import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { executeRun } from '../src/config/execute-run.ts';
import { loadRun } from '../src/config/load-run.ts';
import { builtinRegistry } from '../src/config/registry.ts';
import { packageRoot } from '../src/lib/shipped.ts';
import type { SampleRecord } from '../src/schema/record.ts';
import { readRecords } from '../src/store/records.ts';
import { startLoopback } from './support/loopback-chat.ts';
import { makeProject, type Project, testHost } from './support/project.ts';
import { stripped } from './support/strip.ts';

const examples = join(packageRoot(), 'examples');
const hasPython = spawnSync('python3', ['--version']).status === 0;
const { signal } = new AbortController();
const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' };

const children: ChildProcess[] = [];
afterAll(async () => {
  for (const child of children) {
    const exit = once(child, 'exit');
    child.kill();
    await exit;
  }
});

/** Starts an example that serves HTTP on any free port; gives its address. */
async function serve(command: string, file: string): Promise<string> {
  const child = spawn(command, [join(examples, file), '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [line] = await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
  const url = /http:\S+/.exec(String(line))?.[0];
  if (!url) throw new Error(`${file} printed no address: ${line}`);
  return url;
}

const program = { kind: 'command', command: 'python3', args: ['agent_command.py'], cwd: examples };

const benchmark = {
  benchmark: 'contextual_integrity',
  dataset: { bundled: 'heams_scenarios', limit: 24 },
  user_task_prompt: '{{ user_task }}',
  evaluator: { type: 'ci_string_match' },
};

type Arm = { name: string; agent: object; memory: object };

async function run(project: Project, experiments: readonly Arm[], name = 'run'): Promise<Map<string, SampleRecord[]>> {
  const file = await project.write(`${name}.yaml`, { name, benchmark, experiments, concurrency: 8 });
  const outputDir = project.path(`results-${name}`);
  const host = testHost(project.dir, env);
  await executeRun({ run: await loadRun(file, builtinRegistry), host, outputDir, stop: signal, signal });
  const records = new Map<string, SampleRecord[]>();
  for (const arm of experiments) {
    const own: SampleRecord[] = [];
    for await (const record of readRecords(join(outputDir, arm.name, 'runs.jsonl'))) own.push(record);
    records.set(
      arm.name,
      own.sort((a, b) => (a.sample_id < b.sample_id ? -1 : 1)),
    );
  }
  return records;
}

/** A record without what says which arm it is of. */
const bare = (records: readonly SampleRecord[] = []) =>
  records.map(({ key: _k, experiment: _e, agent: _a, agent_kind: _g, versions: _v, ...rest }) => stripped(rest));

describe('an agent elsewhere', { timeout: 120_000 }, () => {
  let project: Project;
  const servers: Record<string, string> = {};
  beforeAll(async () => {
    project = await makeProject();
    servers.node = await serve(process.execPath, 'agent.mjs');
    if (hasPython) servers.python = await serve('python3', 'agent_http.py');
  });
  afterAll(() => project.remove());

  it.skipIf(!hasPython)(
    'gives the records of the one in this process for the same replies (needs python3)',
    async () => {
      const memory = { backend: 'bm25', top_k: 3 };
      const inject = { memory_strategy: 'inject' };
      const records = await run(project, [
        { name: 'here', agent: { kind: 'dump' }, memory },
        { name: 'python-command', agent: { ...program, ...inject, workers: 2 }, memory },
        { name: 'node-http', agent: { kind: 'http', url: servers.node, ...inject }, memory },
        { name: 'python-http', agent: { kind: 'http', url: servers.python, ...inject }, memory },
      ]);
      const here = records.get('here') ?? [];
      expect(here.length).toBe(24);
      expect(here.every(({ status }) => status === 'done')).toBe(true);
      expect(here.some(({ reply }) => reply?.message !== '')).toBe(true);
      for (const arm of ['python-command', 'node-http', 'python-http']) {
        expect(bare(records.get(arm))).toEqual(bare(here));
      }
      expect(new Set([...records.values()].flat().map(({ agent_kind }) => agent_kind))).toEqual(
        new Set(['dump', 'command', 'http']),
      );
    },
  );

  it.skipIf(!hasPython)('searches as the others do, whatever it is written in (needs python3)', async () => {
    const memory = { backend: 'bm25', top_k: 3 };
    const tool = { memory_strategy: 'tool' };
    const records = await run(
      project,
      [
        { name: 'command', agent: { ...program, ...tool }, memory },
        { name: 'node', agent: { kind: 'http', url: servers.node, ...tool }, memory },
        { name: 'python', agent: { kind: 'http', url: servers.python, ...tool }, memory },
      ],
      'tools',
    );
    const [first = []] = records.values();
    expect(first.every(({ reply }) => reply?.tool_calls.length === 1 && reply.recalls.length === 1)).toBe(true);
    for (const own of records.values()) expect(bare(own)).toEqual(bare(first));
  });

  it.skipIf(!hasPython)(
    'with its own memory is told the facts, and nothing else is known of it (needs python3)',
    async () => {
      const shipped = await readFile(join(packageRoot(), 'configs/memory/own_memory.yaml'), 'utf8');
      const memory = parse(shipped) as object;
      const none = { memory_strategy: 'none' };
      const arms = [
        { name: 'command', agent: { ...program, ...none, workers: 3 }, memory },
        { name: 'node', agent: { kind: 'http', url: servers.node, ...none }, memory },
        { name: 'python', agent: { kind: 'http', url: servers.python, ...none }, memory },
        { name: 'floor', agent: { kind: 'http', url: servers.python, ...none }, memory: { backend: 'no_memory' } },
      ];
      const records = await run(project, arms, 'own');
      const first = records.get('command') ?? [];
      for (const record of first) {
        expect(record).toMatchObject({
          status: 'done',
          backend: 'own_memory',
          reply: { external: { recalls_known: false } },
        });
        expect(record).not.toHaveProperty('stored');
        // It tells all it was told: nothing of this scope is missing, and nothing of another is there.
        const lines = record.reply?.message.split('\n') ?? [];
        const told = record.facts.flatMap(({ text }) => text.split('\n').map((line) => line.trim()));
        expect(lines.map((line) => line.trim())).toEqual(expect.arrayContaining(told));
        const others = first.filter((one) => one !== record).flatMap(({ facts }) => facts.map(({ text }) => text));
        for (const text of others) expect(record.reply?.message).not.toContain(text);
      }
      expect(first.length).toBe(24);
      expect(bare(records.get('node'))).toEqual(bare(first));
      expect(bare(records.get('python'))).toEqual(bare(first));
      for (const { reply } of records.get('floor') ?? []) expect(reply?.message).toBe('');
    },
  );

  it('runs again from the config that the run wrote, from another folder', async () => {
    const agent = {
      ...program,
      command: process.execPath,
      args: ['support/misbehaving-agent.mjs'],
      cwd: relative(project.dir, join(packageRoot(), 'test')),
      memory_strategy: 'inject',
    };
    const before = await run(project, [{ name: 'arm', agent, memory: { backend: 'bm25' } }], 'first');
    const [written] = (await readdir(project.path('results-first'))).filter((name) => name.startsWith('run_config.'));
    const again = await loadRun(project.path('results-first', written as string), builtinRegistry);
    const outputDir = project.path('elsewhere/results');
    const outcome = await executeRun({ run: again, host: testHost(project.dir, env), outputDir, stop: signal, signal });
    expect(outcome).toMatchObject({ done: 24, failed: 0 });
    // The same folder goes on: nothing is left to do.
    const resumed = await executeRun({
      run: again,
      host: testHost(project.dir, env),
      outputDir: project.path('results-first'),
      stop: signal,
      signal,
    });
    expect(resumed).toMatchObject({ planned: 24, resumed: 24 });
    expect(before.get('arm')?.length).toBe(24);
  });
});

describe('own_memory', () => {
  it('is what a plain model was told in earlier turns, and its exposure is known', async () => {
    const server = await startLoopback({ answer: ({ messages }) => `I heard ${messages.length} turns.` });
    const project = await makeProject();
    const agent = {
      kind: 'llm',
      model_id: 'openai-compatible:x',
      base_url: server.baseUrl,
      memory_strategy: 'none',
      instructions: 'You help.',
    };
    const memory = {
      backend: 'own_memory',
      each: 'fact',
      telling: 'Remember: {% for fact in facts %}{{ fact.text }}{% endfor %}',
    };
    const records = await run(project, [{ name: 'arm', agent, memory }]);
    await project.remove();
    await server.close();
    const own = records.get('arm') ?? [];
    expect(own.length).toBe(24);
    for (const record of own) {
      if (record.status !== 'done') throw new Error('a sample failed');
      const { facts, usage, reply, grade } = record;
      expect(usage.prime.calls).toBe(facts.length);
      expect(reply?.message).toBe(`I heard ${2 * facts.length + 2} turns.`);
      const { secrets } = grade as { secrets: { exposure: object }[] };
      for (const { exposure } of secrets) expect(exposure).toEqual({ stored: true, recalled: true, by: 'provenance' });
    }
  });

  it('is refused before anything runs where the agent has none', async () => {
    const project = await makeProject();
    const memory = { backend: 'own_memory', telling: '{{ facts | json }}' };
    const refused = run(project, [{ name: 'arm', agent: { kind: 'dump', name: 'parrot' }, memory }]);
    await expect(refused).rejects.toMatchObject({ code: 'agent_without_own_memory' });
    await expect(refused).rejects.toThrow('the agent "parrot" has no memory of its own');
    await project.remove();
  });
});
