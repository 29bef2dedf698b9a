import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DoctorCheck } from '../src/config/doctor/check.ts';
import { type Loopback, startLoopback } from './support/loopback-chat.ts';
import { makeProject, type Project, runCli } from './support/project.ts';

const KEY = 'sk-loopback-0123456789';
const reference = ['$', '{DOCTOR_TOKEN}'].join('');

describe('heams doctor <run>', () => {
  let server: Loopback;
  let project: Project;
  beforeAll(async () => {
    server = await startLoopback({ apiKey: KEY });
    project = await makeProject();
  });
  afterAll(async () => {
    await server.close();
    await project.remove();
  });

  const model = () => ({ model_id: 'openai-compatible:small', base_url: server.baseUrl, api_key_env: 'DOCTOR_KEY' });
  const writer = () => ({ ...model(), kind: 'llm', memory_strategy: 'inject', instructions: 'Write. {{ memories }}' });
  const bm25 = { backend: 'bm25', top_k: 3 };

  async function doctor(
    arms: Record<string, unknown>[],
    { env = { DOCTOR_KEY: KEY }, flags = [] }: { env?: Record<string, string>; flags?: string[] } = {},
  ) {
    await project.write('run.yaml', {
      name: 'clinic',
      benchmark: {
        benchmark: 'contextual_integrity',
        // Not there: doctor looks at no dataset.
        dataset: { file: 'absent.jsonl' },
        user_task_prompt: '{{ user_task }}',
        evaluator: { type: 'ci_string_match', variant: 'raw' },
      },
      memory_ready_timeout_s: 20,
      experiments: arms.map((arm, i) => ({ name: `arm${i}`, ...arm })),
    });
    const result = await runCli(['doctor', 'run.yaml', '--json', ...flags], project.dir, env);
    const { checks, ...rest } = JSON.parse(result.stdout || '{}') as { checks: DoctorCheck[]; ok: boolean };
    return { ...result, ...rest, checks };
  }
  const said = (checks: readonly DoctorCheck[]) => checks.map(({ name, check, state }) => [name, check, state]);

  it('asks each model once, writes to each memory and recalls, and ends with 0', async () => {
    const before = server.stats.requests;
    const vector = {
      backend: 'vector',
      top_k: 3,
      embedding_model_id: 'openai-compatible:vectors',
      base_url: server.baseUrl,
      api_key_env: 'DOCTOR_KEY',
    };
    const guard = { defence: 'privacy_prompt', prompt: 'Be discreet.' };
    const result = await doctor([
      { agent: writer(), memory: bm25, defence: guard },
      { agent: writer(), memory: vector },
    ]);
    expect(said(result.checks)).toEqual([
      ['contextual_integrity', 'nothing', 'ok'],
      ['llm', 'model openai-compatible:small (agent)', 'ok'],
      ['llm', 'model openai-compatible:small (agent)', 'ok'],
      ['bm25', 'write and recall', 'ok'],
      ['vector', 'model openai-compatible:vectors (embeddings)', 'ok'],
      ['vector', 'write and recall', 'ok'],
      ['privacy_prompt', 'build', 'ok'],
    ]);
    expect(result).toMatchObject({ code: 0, ok: true, stderr: '' });
    // Two agents of one model are one call; then one embedding, one of what is written, and one of what is searched.
    expect(server.stats.requests - before).toBe(1 + 1 + 2);
    expect(result.stdout).not.toContain(KEY);
  });

  it('says what a wrong key meets with, and never the key, though the server repeats it', async () => {
    const wrong = 'sk-wrong-key-9876543210';
    const result = await doctor([{ agent: writer(), memory: bm25 }], { env: { DOCTOR_KEY: wrong } });
    expect(result.code).toBe(2);
    expect(said(result.checks)).toContainEqual(['llm', 'model openai-compatible:small (agent)', 'failed']);
    expect(result.stdout + result.stderr).not.toContain(wrong);
    expect(result.stdout).not.toContain('9876543210');
  });

  it('names what is missing and what to do, and prints it as a table', async () => {
    const away = {
      kind: 'http',
      url: 'http://127.0.0.1:9/',
      memory_strategy: 'none',
      headers: { authorization: `Bearer ${reference}` },
      version: '1',
      retries: 0,
    };
    const absent = { kind: 'command', command: 'no-such-program-of-heams', memory_strategy: 'none', version: '1' };
    const result = await doctor(
      [
        { agent: writer(), memory: { backend: 'zep', top_k: 3 } },
        { agent: away, memory: bm25 },
        { agent: absent, memory: bm25 },
      ],
      { env: { DOCTOR_TOKEN: 'tok-0123456789' } },
    );
    const states = said(result.checks);
    expect(states).toContainEqual(['llm', 'model openai-compatible:small (agent)', 'missing']);
    expect(states).toContainEqual(['zep', 'variable ZEP_API_KEY', 'missing']);
    expect(states).toContainEqual(['zep', 'package @getzep/zep-cloud', 'ok']);
    expect(states).toContainEqual(['zep', 'write and recall', 'skipped']);
    expect(states).toContainEqual(['http', 'server http://127.0.0.1:9/', 'failed']);
    expect(states).toContainEqual(['http', 'one turn', 'failed']);
    expect(states).toContainEqual(['command', 'program no-such-program-of-heams', 'missing']);
    expect(result.code).toBe(2);
    expect(result.stdout).not.toContain('tok-0123456789');

    const { stdout, code } = await runCli(['doctor', 'run.yaml', '--offline'], project.dir);
    expect(code).toBe(2);
    const lines = stdout.split('\n');
    expect(lines[0]?.split(/ {2,}/)).toEqual(['part', 'name', 'arms', 'check', 'state', 'detail']);
    expect(stdout).toContain('next: set ZEP_API_KEY');
    expect(lines.at(-2)).toMatch(/^\d+ things missing, \d+ failed\. Skipped: \d+\.$/);
  });

  it('asks nobody elsewhere with --offline, and still asks this machine', async () => {
    const elsewhere = { ...writer(), model_id: 'openai:gpt-4o-mini', base_url: undefined };
    const result = await doctor(
      [
        { agent: elsewhere, memory: bm25 },
        { agent: writer(), memory: bm25 },
      ],
      { flags: ['--offline'] },
    );
    expect(said(result.checks)).toEqual([
      ['contextual_integrity', 'nothing', 'ok'],
      ['llm', 'model openai:gpt-4o-mini (agent)', 'skipped'],
      ['llm', 'model openai-compatible:small (agent)', 'ok'],
      ['bm25', 'write and recall', 'ok'],
      ['bm25', 'write and recall', 'ok'],
    ]);
    expect(result.code).toBe(0);
  });

  it.each([
    [['doctor'], 'heams doctor needs a run file'],
    [['doctor', 'absent.yaml'], 'absent.yaml'],
  ])('refuses %j', async (args, text) => {
    const { code, stderr } = await runCli(args, project.dir);
    expect(stderr).toContain(text);
    expect(code).toBe(2);
  });
});
