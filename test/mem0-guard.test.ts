import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../src/lib/shipped.ts';
import { startLoopback } from './support/loopback-chat.ts';
import { startLoopbackMem0 } from './support/loopback-mem0.ts';
import { verbatimExtraction } from './support/mem0-extraction.ts';
import { namedMem0, nativeSqlite } from './support/native-sqlite.ts';
import { makeProject, type Project } from './support/project.ts';

/** Writes down every look-up of a name and every connection that is not loopback, and refuses it. */
const guard = `
import dns from 'node:dns';
import net from 'node:net';
import { appendFileSync } from 'node:fs';
const seen = (what) => {
  appendFileSync(process.env.GUARD_LOG, what + '\\n');
  throw new Error('network guard: ' + what);
};
const local = (host) => host === undefined || host === 'localhost' || host === '::1' || /^127\\./.test(host);
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  const [first] = Array.isArray(args[0]) ? args[0] : args;
  const host = typeof first === 'object' ? first.host : typeof args[1] === 'string' ? args[1] : undefined;
  if (!local(host) && !(typeof first === 'object' && first.path)) seen('connect ' + host);
  return connect.apply(this, args);
};
for (const target of [dns, dns.promises]) {
  for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6']) {
    const own = target[name];
    target[name] = function (host, ...rest) {
      if (!local(host)) seen(name + ' ' + host);
      return own.call(this, host, ...rest);
    };
  }
}
`;

interface Outcome {
  /** What was reached that is not loopback. */
  network: string;
  stdout: string;
  stderr: string;
  /** Files in the home folder and in the working folder. */
  home: string[];
  cwd: string[];
}

async function run(project: Project, code: string): Promise<Outcome> {
  const log = await project.write('network.log', '');
  const guardFile = await project.write('guard.mjs', guard);
  const script = await project.write('script.mts', code);
  const [home, cwd] = [project.path('home'), project.path('work')];
  for (const folder of [home, cwd]) await mkdir(folder, { recursive: true });
  const tsx = new URL('../node_modules/tsx/dist/loader.mjs', import.meta.url).href;
  const child = spawn(process.execPath, ['--import', guardFile, '--import', tsx, script], {
    cwd,
    // What a user may have set for other programs: telemetry on, and keys.
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      USERPROFILE: home,
      GUARD_LOG: log,
      TMPDIR: project.path('tmp'),
      TSX_DISABLE_CACHE: '1',
      MEM0_TELEMETRY: 'true',
      MEM0_TELEMETRY_SAMPLE_RATE: '1',
      OPENAI_API_KEY: 'sk-of-another-program',
    },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  await new Promise((resolve) => child.once('close', resolve));
  const network = await readFile(log, 'utf8');
  return { network, stdout, stderr, home: await readdir(home), cwd: await readdir(cwd) };
}

/** The life of a scope from its opening to its end; prints what was recalled. */
function lifeOf(name: string, file: object, env: Record<string, string> = {}): string {
  const source = (path: string) => JSON.stringify(`${packageRoot()}/${path}`);
  return `
import { builtinRegistry } from ${source('src/config/registry.ts')};
import { fakeCall } from ${source('test/support/fake-call.ts')};
import { testFactory } from ${source('test/support/model-factory.ts')};
import { fakePluginContext } from ${source('test/support/plugin-context.ts')};
import { systemClock } from ${source('src/lib/clock.ts')};

const plugin = await builtinRegistry.memories[${JSON.stringify(name)}]();
const models = testFactory();
const memory = await plugin.create(plugin.schema.parse(${JSON.stringify({ backend: name, ...file })}), {
  ...fakePluginContext(),
  clock: systemClock,
  env: ${JSON.stringify(env)},
  model: async (settings) => models.chat(settings),
});
const facts = Array.from({ length: 12 }, (_, i) => ({
  id: 'f' + i,
  key: 'Room',
  text: 'Room: ' + i + ', booked yesterday',
  at: '2025-01-02T03:04:05Z',
}));
const scope = await memory.open('guarded', fakeCall());
await scope.write(facts);
await scope.ready(new AbortController().signal);
const recall = await scope.search('which room was booked last week?', 60);
console.log(JSON.stringify({ stored: (await scope.list()).length, recalled: recall.items.length }));
await scope.dispose();
await memory.close();
await models.close();
`;
}

const untouched = { network: '', stderr: '', home: [], cwd: [], stdout: '{"stored":12,"recalled":12}\n' };

describe.skipIf(!nativeSqlite)(namedMem0('mem0 with every telemetry switch on'), () => {
  it('reaches no host, writes nothing and prints nothing (infer: false)', { timeout: 60_000 }, async () => {
    const project = await makeProject();
    expect(await run(project, lifeOf('mem0', {}))).toEqual(untouched);
    await project.remove();
  });

  it('reaches its model alone (infer: true)', { timeout: 60_000 }, async () => {
    const project = await makeProject();
    const server = await startLoopback({ answer: verbatimExtraction });
    const llm = { model_id: 'openai-compatible:extractor', base_url: server.baseUrl };
    expect(await run(project, lifeOf('mem0', { infer: true, llm }))).toEqual(untouched);
    expect(server.stats.requests).toBe(12);
    await server.close();
    await project.remove();
  });

  it('reaches its own address alone (hosted)', { timeout: 60_000 }, async () => {
    const project = await makeProject();
    const key = 'm0-1234567890abcdef';
    const service = await startLoopbackMem0({ apiKey: key });
    expect(await run(project, lifeOf('mem0_cloud', { base_url: service.url }, { MEM0_API_KEY: key }))).toEqual(
      untouched,
    );
    await service.close();
    await project.remove();
  });

  it('would reach others if it were let: the guard sees it', { timeout: 60_000 }, async () => {
    const project = await makeProject();
    const mem0 = JSON.stringify(new URL('../node_modules/mem0ai/dist/oss/index.mjs', import.meta.url).href);
    const { network, home } = await run(
      project,
      `
const { Memory } = await import(${mem0});
const model = { invoke() {}, embedQuery: async () => [1, 0], embedDocuments: async (all) => all.map(() => [1, 0]) };
const memory = new Memory({
  embedder: { provider: 'langchain', config: { model } },
  llm: { provider: 'langchain', config: { model } },
  vectorStore: { provider: 'memory', config: { dbPath: ':memory:', dimension: 2 } },
  disableHistory: true,
});
await memory.add('one', { userId: 'u', infer: false });
`,
    );
    expect(network).toContain('us.i.posthog.com');
    expect(home).toEqual(['.mem0']);
    await project.remove();
  });
});
