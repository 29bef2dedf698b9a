import { readdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judgedRunFiles } from './support/judged-run.ts';
import { type Loopback, startLoopback } from './support/loopback-chat.ts';
import { ruleAnswer } from './support/loopback-judge.ts';
import { makeProject, type Project, runCli } from './support/project.ts';

/** Unlike any vendor's keys, so that only knowing them can take them out of a text. */
const canaries = {
  modelKey: 'canary/model+key=1a',
  modelHeader: 'canary/model+header=2b',
  urlPassword: 'canary-url-password-3c',
  agentHeader: 'canary/agent+header=4d',
  memoryHeader: 'canary/memory+header=5e',
};
const env = {
  CANARY_MODEL: canaries.modelKey,
  CANARY_AGENT: canaries.agentHeader,
  CANARY_MEMORY: canaries.memoryHeader,
  CANARY_URL: canaries.urlPassword,
};
const reference = (name: string) => ['$', `{${name}}`].join('');

/** Each canary as it stands, in base64 alone and behind a user, and as a URL writes it. */
function forms(secret: string): string[] {
  const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');
  return [secret, base64(secret), base64(`user:${secret}`), encodeURIComponent(secret)];
}

/** The canaries among what was sent, in every form that an error may repeat them in, ahead of the rest. */
function repeated(sent: string): string {
  const found = Object.values(canaries).filter((secret) => sent.includes(secret));
  const coded = found.map((secret) => `${Buffer.from(secret).toString('base64')} ${encodeURIComponent(secret)}`);
  return `no: ${coded.join(' ')} ${sent}`;
}

/** Every file below a folder but the configs that the test itself wrote, as text; packed ones unpacked. */
async function leftBehind(dir: string, skip: string): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for (const entry of await readdir(dir, { withFileTypes: true, recursive: true })) {
    const file = join(entry.parentPath, entry.name);
    if (!entry.isFile() || file.startsWith(skip)) continue;
    const bytes = await readFile(file);
    found.push([file, (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString('latin1')]);
  }
  return found;
}

describe('keys in a run whose servers repeat them in every error', () => {
  let server: Loopback;
  let echo: Server;
  let project: Project;
  const told: [string, string][] = [];
  const seen = new Set<string>();

  beforeAll(async () => {
    server = await startLoopback({
      answer: ruleAnswer,
      raw: ({ headers }, n) => {
        const sent = JSON.stringify(headers);
        for (const secret of Object.values(canaries)) if (sent.includes(secret)) seen.add(secret);
        // Every third request is refused in a body that repeats all that was sent.
        return n % 3 === 0 ? { status: 400, body: JSON.stringify({ error: { message: repeated(sent) } }) } : undefined;
      },
    });
    echo = createServer((request, response) => {
      const sent = JSON.stringify(request.headers);
      for (const secret of Object.values(canaries)) if (sent.includes(secret)) seen.add(secret);
      request.resume();
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { message: repeated(sent) } }));
    });
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', () => resolve()));
    const echoUrl = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;
    const files = await judgedRunFiles({
      baseUrl: server.baseUrl,
      concurrency: 4,
      dataset: { bundled: 'heams_scenarios', limit: 6 },
    });
    const agent = files['configs/agents/agent.yaml'] as object;
    const run = files['configs/runs/judged.yaml'] as object;
    project = await makeProject({
      ...files,
      'configs/agents/agent.yaml': {
        ...agent,
        api_key_env: 'CANARY_MODEL',
        headers: { 'X-Other': canaries.modelHeader },
      },
      'configs/agents/remote.yaml': {
        kind: 'http',
        url: echoUrl,
        memory_strategy: 'none',
        retries: 0,
        headers: { Authorization: `Bearer ${reference('CANARY_AGENT')}` },
      },
      'configs/memory/remote.yaml': {
        backend: 'http',
        top_k: 3,
        url: echoUrl,
        rewrites: false,
        provenance: true,
        honours_k: true,
        headers: { Authorization: `Bearer ${reference('CANARY_MEMORY')}` },
      },
      'configs/memory/database.yaml': {
        backend: 'postgres_text',
        top_k: 3,
        url: `postgres://user:${reference('CANARY_URL')}@127.0.0.1:9/none`,
      },
      'configs/runs/judged.yaml': {
        ...run,
        experiments: [
          { name: 'model', agent_config_file: 'agent.yaml', memory_config_file: 'memory.yaml' },
          { name: 'remote-agent', agent_config_file: 'remote.yaml', memory_config_file: 'memory.yaml' },
        ],
      },
      // A memory that cannot be reached ends a run before it starts, so that these two stand apart.
      'configs/runs/remote.yaml': {
        ...run,
        experiments: [{ name: 'remote', agent_config_file: 'agent.yaml', memory_config_file: 'remote.yaml' }],
      },
      'configs/runs/database.yaml': {
        ...run,
        experiments: [{ name: 'database', agent_config_file: 'agent.yaml', memory_config_file: 'database.yaml' }],
      },
    });
    const commands = [
      ['run', '--config', 'configs/runs/judged.yaml', '--output-dir', 'results'],
      ['run', '--config', 'configs/runs/judged.yaml', '--output-dir', 'results', '--json'],
      ['run', '--config', 'configs/runs/remote.yaml', '--output-dir', 'remote'],
      ['run', '--config', 'configs/runs/database.yaml', '--output-dir', 'database', '--json'],
      ['generate-report', '--results-dir', 'results'],
      ['rollup', '--results-dir', 'results'],
      ['doctor', 'configs/runs/judged.yaml'],
      ['export', 'html', 'results', '--output', 'pages'],
    ];
    for (const args of commands) {
      const { code, stdout, stderr } = await runCli(args, project.dir, env);
      told.push([`heams ${args.join(' ')} (${code})`, stdout + stderr]);
    }
  }, 180_000);

  afterAll(async () => {
    await server.close();
    echo.closeAllConnections();
    echo.close();
    await project.remove();
  });

  it('reach the servers they are for', () => {
    const { modelKey, modelHeader, agentHeader, memoryHeader } = canaries;
    expect([...seen].sort()).toEqual([modelKey, modelHeader, agentHeader, memoryHeader].sort());
  });

  it.each(Object.entries(canaries))('%s is in no file and on no terminal, whatever its form', async (_name, secret) => {
    const all = [...told, ...(await leftBehind(project.dir, project.path('configs')))];
    expect(all.length).toBeGreaterThan(15);
    const leaks = all.filter(([, text]) => forms(secret).some((form) => text.includes(form))).map(([where]) => where);
    expect(leaks).toEqual([]);
  });
});
