import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ciReporter } from '../src/benchmarks/contextual-integrity/reporter.ts';
import { executeRun } from '../src/config/execute-run.ts';
import { loadBenchmark, loadRun } from '../src/config/load-run.ts';
import { builtinRegistry as registry } from '../src/config/registry.ts';
import { regradeRun } from '../src/config/regrade.ts';
import { identifierKinds, redactIdentifiers } from '../src/defences/identifiers/redact.ts';
import { packageRoot } from '../src/lib/shipped.ts';
import type { CiMetrics } from '../src/schema/ci-metrics.ts';
import type { Json } from '../src/schema/json.ts';
import type { SampleRecord } from '../src/schema/record.ts';
import { readRecords } from '../src/store/records.ts';
import { type ChatBody, type Loopback, startLoopback } from './support/loopback-chat.ts';
import { makeProject, type Project, testHost } from './support/project.ts';

const configs = join(packageRoot(), 'configs');
const shipped = (folder: string, name: string) => join(configs, folder, `${name}.yaml`);
const { signal } = new AbortController();
const LIMIT = 6;

const benchmark = {
  benchmark: 'contextual_integrity',
  dataset: { bundled: 'heams_scenarios', limit: LIMIT },
  user_task_prompt: '{{ user_task }}',
  evaluator: { type: 'ci_string_match', variant: 'boundary' },
};

async function recordsOf(project: Project, folder: string, arm: string): Promise<SampleRecord[]> {
  const records: SampleRecord[] = [];
  for await (const record of readRecords(project.path(folder, arm, 'runs.jsonl'))) records.push(record);
  return records.sort((a, b) => (a.sample_id < b.sample_id ? -1 : 1));
}

function metricsOf(records: readonly SampleRecord[]): CiMetrics {
  const metrics = ciReporter.accumulate();
  for (const record of records) metrics.add(record);
  return metrics.result() as CiMetrics;
}

async function execute(project: Project, file: string, folder: string) {
  const run = await loadRun(file, registry);
  return executeRun({ run, host: testHost(project.dir), outputDir: project.path(folder), stop: signal, signal });
}

describe('defences that need no key, over arms that need none', { timeout: 120_000 }, () => {
  const agents = ['silent', 'dump', 'oracle', 'redacted'];
  const memories = ['no_memory', 'full_context', 'bm25', 'sqlite'];
  const defences = ['privacy_prompt', 'recipient_gate', 'redact_identifiers'];
  const arms = agents.flatMap((agent) => memories.map((memory) => `${agent}-${memory}`));
  let project: Project;

  beforeAll(async () => {
    project = await makeProject({ 'configs/benchmarks/b.yaml': benchmark });
    await project.write('configs/runs/all.yaml', {
      name: 'all',
      benchmark_config_file: 'b.yaml',
      matrix: {
        agents: agents.map((name) => shipped('agents', name)),
        memories: memories.map((name) => shipped('memory', name)),
        defences: ['none', ...defences.map((name) => shipped('defences', name))],
      },
    });
    await execute(project, project.path('configs/runs/all.yaml'), 'results');
  }, 120_000);
  afterAll(() => project.remove());

  it.each(arms)('%s: no sample fails, no model is asked, and records name the defence', async (arm) => {
    const plain = await recordsOf(project, 'results', arm);
    expect(plain.map(({ status, defence }) => [status, defence])).toEqual(Array(LIMIT).fill(['done', undefined]));
    for (const defence of defences) {
      const records = await recordsOf(project, 'results', `${arm}-${defence}`);
      expect(records.map((one) => [one.status, one.defence, one.defence_kind, one.usage.defence.calls])).toEqual(
        Array(LIMIT).fill(['done', defence, defence, 0]),
      );
    }
  });

  it('privacy_prompt changes nothing of what a control says', async () => {
    for (const arm of arms) {
      const plain = await recordsOf(project, 'results', arm);
      const prompted = await recordsOf(project, 'results', `${arm}-privacy_prompt`);
      expect(prompted.map(({ reply }) => reply)).toEqual(plain.map(({ reply }) => reply));
    }
  });

  it('recipient_gate lets dump say what it lets through and nothing else', async () => {
    const plain = await recordsOf(project, 'results', 'dump-full_context');
    const gated = await recordsOf(project, 'results', 'dump-full_context-recipient_gate');
    for (const [i, { reply }] of gated.entries()) {
      const [recall] = reply?.recalls ?? [];
      const all = [...(recall?.items ?? []), ...(recall?.withheld ?? [])].map(({ text }) => text).sort();
      expect(all).toEqual((plain[i]?.reply?.recalls[0]?.items ?? []).map(({ text }) => text).sort());
      expect(reply?.message).toBe(recall?.items.map(({ text }) => text).join('\n'));
    }
    const { exposure, usage } = metricsOf(gated);
    expect(exposure.secret.recalled + exposure.secret.withheld).toBe(metricsOf(plain).exposure.secret.recalled);
    expect(usage.defence.calls).toBe(0);
  });

  it('redact_identifiers leaves no identifier of what it knows in a message, and tells the draft apart', async () => {
    const redacted = await recordsOf(project, 'results', 'dump-full_context-redact_identifiers');
    for (const { reply } of redacted) {
      const message = reply?.message ?? '';
      expect(redactIdentifiers(message, identifierKinds)).toBe(message);
      expect(reply?.draft).toBeDefined();
    }
    expect(metricsOf(redacted).unsent?.draft).toBeDefined();
  });

  it('a run that is graded again keeps its defences, and does not apply them twice', async () => {
    const composed = await regradeRun({
      resultsDir: project.path('results'),
      benchmark: await loadBenchmark(project.path('configs/benchmarks/b.yaml'), registry),
      registry,
    });
    const outputDir = project.path('again');
    const host = testHost(project.dir);
    const first = await executeRun({ run: composed, host, outputDir, stop: signal, signal });
    for (const arm of ['dump-full_context', 'dump-full_context-redact_identifiers', 'oracle-bm25-recipient_gate']) {
      const [before, after] = [await recordsOf(project, 'results', arm), await recordsOf(project, 'again', arm)];
      const told = ({ defence, defence_kind, reply, agent_kind, backend }: SampleRecord) =>
        JSON.stringify({ defence, defence_kind, reply, agent_kind, backend });
      expect(after.map(told)).toEqual(before.map(told));
    }
    // What it wrote down of itself can be read and gone on with.
    const again = await executeRun({ run: composed, host, outputDir, stop: signal, signal });
    expect(again).toMatchObject({ planned: first.planned, resumed: first.planned });
  });
});

describe('shipped defences that ask a model, through the real client', { timeout: 120_000 }, () => {
  const files = readdirSync(join(configs, 'defences')).map((file) => file.replace(/\.yaml$/, ''));
  const asking = files.filter((name) => 'model_id' in parse(readFileSync(shipped('defences', name), 'utf8')));
  const guiding = ['ci_cot', 'privacy_prompt'];
  let server: Loopback;
  let project: Project;
  const prompts: string[] = [];

  /** Whatever is asked for: the first item alone is needed and fits, every message leaks once, and all is answered. */
  const answer = (body: ChatBody): string => {
    const said = body.messages.map(({ content }) => content).join('\n');
    prompts.push(said);
    const count = said.match(/\{"number":/g)?.length ?? 0;
    const each = <T>(make: (number: number) => T) => Array.from({ length: count }, (_, i) => make(i + 1));
    const flow = (item: number) => ({
      ...{ item, sender: 's', recipient: 'r', subject: 'u', attribute: `kind ${item}`, transmission_principle: 'p' },
    });
    const replies: Record<string, () => Json> = {
      needed_items: () => ({ reasoning: '-', needed: [1] }),
      flows: () => ({ flows: each(flow) }),
      judged_flows: () => ({ flows: each((item) => ({ ...flow(item), reason: '-', appropriate: item === 1 })) }),
      verdicts: () => ({ verdicts: each((one) => ({ flow: one, reason: '-', appropriate: one === 1 })) }),
      review: () => ({ reasoning: '-', leaks: said.includes('Best,') ? [] : ['x'], message: 'Rewritten. Best, me' }),
    };
    const reply = replies[body.response_format?.json_schema?.name ?? ''];
    return reply ? JSON.stringify(reply()) : `Thinking.\n<answer>Hello ${count}</answer>`;
  };

  beforeAll(async () => {
    server = await startLoopback({ answer });
    project = await makeProject({ 'configs/benchmarks/b.yaml': benchmark });
    const model = { model_id: 'openai-compatible:small', base_url: server.baseUrl };
    const instructions = 'You write.\n{{ memories }}';
    await project.write('configs/agents/a.yaml', { ...model, memory_strategy: 'inject', instructions });
    for (const name of [...asking, ...guiding]) {
      const config = parse(readFileSync(shipped('defences', name), 'utf8')) as object;
      const own = asking.includes(name) ? { ...config, ...model } : config;
      await project.write(`configs/defences/${name}.yaml`, own);
    }
    await project.write('configs/runs/models.yaml', {
      name: 'models',
      benchmark_config_file: 'b.yaml',
      matrix: {
        agents: ['a.yaml'],
        memories: [shipped('memory', 'bm25')],
        defences: [...asking, ...guiding].map((name) => `${name}.yaml`),
      },
    });
    await execute(project, project.path('configs/runs/models.yaml'), 'results');
  }, 120_000);
  afterAll(async () => {
    await project.remove();
    await server.close();
  });

  const recordsFor = (defence: string) => recordsOf(project, 'results', `a-bm25-${defence}`);

  it('are three kinds in four files', () => {
    expect(asking).toEqual(['flow_check', 'flow_check_withhold', 'minimiser', 'output_guard']);
  });

  it.each([...asking, ...guiding])('%s: every sample is done, its calls are the defence’s', async (name) => {
    const records = await recordsFor(name);
    expect(records.map(({ status }) => status)).toEqual(Array(LIMIT).fill('done'));
    for (const { usage, reply } of records) {
      const found = (reply?.recalls[0]?.items.length ?? 0) + (reply?.recalls[0]?.withheld?.length ?? 0) > 0;
      const perSearch = found ? 1 : 0;
      const calls = {
        flow_check: 2 * perSearch,
        flow_check_withhold: perSearch,
        minimiser: perSearch,
        output_guard: 2,
      };
      expect(usage.defence.calls).toBe(calls[name as keyof typeof calls] ?? 0);
      expect(usage.agent.calls).toBe(1);
    }
  });

  it.each(['minimiser', 'flow_check_withhold'])('%s: the agent sees the first item alone', async (name) => {
    for (const { reply } of await recordsFor(name)) {
      const [recall] = reply?.recalls ?? [];
      expect(recall?.items.length).toBeLessThanOrEqual(1);
      for (const { text } of recall?.withheld ?? []) expect(JSON.stringify(reply?.prompt)).not.toContain(text);
    }
    expect(metricsOf(await recordsFor(name)).exposure.secret.withheld).toBeGreaterThan(0);
  });

  it('ci_cot sends the answer; output_guard keeps the draft; flow_check advises', async () => {
    for (const { reply } of await recordsFor('ci_cot')) {
      expect(reply).toMatchObject({ message: 'Hello 0', reasoning: 'Thinking.' });
    }
    for (const { reply } of await recordsFor('output_guard')) {
      expect(reply).toMatchObject({ message: 'Rewritten. Best, me', draft: 'Thinking.\n<answer>Hello 0</answer>' });
    }
    const advised = (await recordsFor('flow_check')).filter(({ reply }) => (reply?.recalls[0]?.items.length ?? 0) > 1);
    expect(advised.length).toBeGreaterThan(0);
    for (const { reply } of advised) {
      expect(reply?.prompt[0]?.content).toContain('- kind 1 (u): fits. -\n- kind 2 (u): does not fit. -');
    }
  });

  it('no prompt holds a label list of a scenario', () => {
    expect(prompts.length).toBeGreaterThan(30);
    for (const prompt of prompts) expect(prompt).not.toMatch(/information_type|disallowed/);
  });
});
