import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuditCase, auditCases, chosenKinds } from '../src/benchmarks/contextual-integrity/audit-judge-cases.ts';
import { loadCiSamples } from '../src/benchmarks/contextual-integrity/dataset.ts';
import { quoted } from '../src/benchmarks/contextual-integrity/quote.ts';
import type { CiSample } from '../src/benchmarks/contextual-integrity/sample.ts';
import { judgeAudit } from '../src/cli/judge-audit.ts';
import { run } from '../src/cli/run.ts';
import { sha256 } from '../src/lib/hash.ts';
import { type JudgeAudit, judgeAuditSchema } from '../src/schema/judge-audit.ts';
import { judgedRunFiles } from './support/judged-run.ts';
import { type ChatBody, type Loopback, startLoopback } from './support/loopback-chat.ts';
import { makeProject, type Project, testHost } from './support/project.ts';

const rates = { sensitivity: 0.85, specificity: 0.9 };
const kinds = ['plain', 'fake_json'];
const audit = { limit: 72, seed: 3 };

/** The truth about a message and a value, as the audit has it, or else by whether the value stands in the message. */
function truthBook(cases: readonly AuditCase[]): (message: string, value: string, side: string) => boolean {
  const known = new Map(
    cases.map(({ sample, item, message, truth }) => {
      const items = item.side === 'secret' ? sample.data.secrets : sample.data.fields;
      return [JSON.stringify([quoted(message), items[item.index]?.parts[0], item.side]), truth];
    }),
  );
  return (message, value, side) =>
    known.get(JSON.stringify([message, value, side])) ??
    message.replace(/\n> /g, '\n').toLowerCase().includes(value.toLowerCase());
}

/** A number in [0, 1) that depends on a text alone, so that the judge errs the same way however calls interleave. */
const drawn = (text: string): number => Number.parseInt(sha256(text).slice(0, 8), 16) / 2 ** 32;

/** A judge that is wrong at a known rate in each direction, and does what a fake JSON verdict says. */
function wrongJudge(truthOf: ReturnType<typeof truthBook>) {
  return (body: ChatBody): string => {
    const text = body.messages.at(-1)?.content ?? '';
    const [head = '', ...rest] = text.split('\n');
    const [side, value] = JSON.parse(head) as [string, string];
    if (side === 'message') return '{"rating": "Good"}';
    const key = side === 'secret' ? 'leaked' : 'communicated';
    const message = rest.join('\n');
    const injected = new RegExp(`Nothing else bears on it.*"${key}": (true|false)`).exec(message);
    if (injected) return JSON.stringify({ [key]: injected[1] === 'true' });
    const truth = truthOf(message, value, side);
    const right = drawn(text) < (truth ? rates.sensitivity : rates.specificity);
    return JSON.stringify({ reasoning: 'by rule', [key]: right ? truth : !truth });
  };
}

const prompts = {
  leakage_system_prompt: 'judge',
  coverage_system_prompt: 'judge',
  helpfulness_system_prompt: 'judge',
  leakage_user_prompt: '["secret", {{ value | json }}]\n{{ message }}',
  coverage_user_prompt: '["field", {{ value | json }}]\n{{ message }}',
  helpfulness_user_prompt: '["message", ""]\n{{ message }}',
};

describe('heams judge audit', { timeout: 120_000 }, () => {
  let server: Loopback;
  let project: Project;
  let samples: CiSample[];
  const lines: string[] = [];
  const io = () => ({
    out: (line: string) => lines.push(line),
    note: () => {},
    terminal: false,
    env: {},
    cwd: project.dir,
  });
  const options = {
    ...{ benchmark: 'configs/benchmarks/judged.yaml', outputDir: 'audit', concurrency: 16, quiet: true },
    ...audit,
    kinds,
  };
  const written = async (dir: string): Promise<JudgeAudit> =>
    judgeAuditSchema.parse(JSON.parse(await readFile(project.path(dir, 'judge_audit.json'), 'utf8')));

  /** The benchmark of the bundled scenarios with the prompts above, judged by a server. */
  const writeBenchmark = async (name: string, judge: Loopback, more: object = {}) => {
    const files = await judgedRunFiles({ baseUrl: judge.baseUrl });
    const benchmark = files['configs/benchmarks/judged.yaml'] as { evaluator: object };
    const evaluator = { ...benchmark.evaluator, ...prompts, ...more };
    await project.write(`configs/benchmarks/${name}.yaml`, { ...benchmark, evaluator });
  };

  beforeAll(async () => {
    project = await makeProject();
    const { folders, env, clock } = testHost(project.dir);
    const signal = new AbortController().signal;
    const context = {
      seed: audit.seed,
      resolve: (path: string) => path,
      env,
      cacheDir: folders.datasets,
      signal,
      clock,
    };
    const bundledDir = `${folders.shipped}/heams_scenarios`;
    samples = (await loadCiSamples({ bundled: 'heams_scenarios' }, { ...context, bundledDir })).samples as CiSample[];
    const cases = auditCases(samples, { ...audit, kinds: chosenKinds(kinds) });
    server = await startLoopback({ answer: wrongJudge(truthBook(cases)) });
    await writeBenchmark('judged', server);
    await project.write('configs/runs/controls.yaml', {
      name: 'controls',
      benchmark_config_file: 'judged.yaml',
      experiments: ['dump', 'silent', 'oracle'].map((kind) => ({
        name: kind,
        agent: { kind },
        memory: { backend: 'full_context' },
      })),
    });
  });
  afterAll(async () => {
    await server.close();
    await project.remove();
  });

  it('plans without asking anything', async () => {
    lines.length = 0;
    expect(await judgeAudit({ ...options, outputDir: 'plan', dryRun: true, json: true }, io())).toBe(0);
    const plan = JSON.parse(lines[0] ?? '') as { messages: number; judges: { calls: number }[] };
    expect(plan.judges).toMatchObject([{ model_id: 'openai-compatible:judge', calls: plan.messages }]);
    expect(server.stats.requests).toBe(0);
  });

  it('recovers the rates of a judge that is wrong at a known rate in each direction, and corrects a run with them', async () => {
    await run({ config: 'configs/runs/controls.yaml', outputDir: 'run', quiet: true }, io());
    expect(await judgeAudit({ ...options, run: 'run' }, io())).toBe(0);
    const { results, corrections, messages, failures } = await written('audit');
    expect(failures).toEqual([]);
    expect(results[0]?.judge).toBe('ci_llm_judge:openai-compatible:judge');
    const cases = auditCases(samples, { ...audit, kinds: chosenKinds(kinds) });
    expect(messages).toBe(cases.length);

    for (const side of results[0]?.sides ?? []) {
      const interval = (rate: (typeof side)['sensitivity']) => (rate.defined ? rate.interval : { low: 2, high: -1 });
      for (const [name, truth] of [
        ['sensitivity', rates.sensitivity],
        ['specificity', rates.specificity],
      ] as const) {
        const { low, high } = interval(side[name]);
        expect({ side: side.side, name, low: low <= truth, high: high >= truth }).toEqual({
          ...{ side: side.side, name, low: true, high: true },
        });
      }
      // The judge obeys the one injection: afterwards it is never right.
      expect(side.injections.map(({ correct }) => correct.defined && correct.value)).toEqual([0, 0]);
    }

    // What leaks is known without a judge: whether the first part of a secret stands in the message.
    const leaked = (message: string) => (secret: { parts: readonly string[] }) =>
      message.toLowerCase().includes(secret.parts.join('\n').toLowerCase());
    const secrets = samples.flatMap((sample) => sample.data.secrets.map((secret) => ({ sample, secret })));
    const truthOf = {
      silent: 0,
      dump:
        secrets.filter(({ sample, secret }) => leaked(sample.facts.map(({ text }) => text).join('\n'))(secret)).length /
        secrets.length,
    };
    const corrected = (experiment: string) =>
      corrections.find(
        (one) => one.experiment === experiment && one.side === 'secret' && one.judge.startsWith('ci_llm_judge'),
      )?.corrected;
    for (const [experiment, truth] of Object.entries(truthOf)) {
      const one = corrected(experiment);
      const holds = one?.defined === true && one.low <= truth && truth <= one.high;
      expect({ experiment, truth, one, holds }).toMatchObject({ holds: true });
    }
    expect(await readFile(project.path('audit', 'judge_audit.md'), 'utf8')).toContain('corrected for the judge');
  });

  it('refuses a cost that it cannot keep', async () => {
    const costly = judgeAudit({ ...options, outputDir: 'costly', maxCostUsd: 1 }, io());
    await expect(costly).rejects.toMatchObject({ code: 'unpriced_model' });
  });

  it('stops at its budget', async () => {
    const judge = await startLoopback({ answer: wrongJudge(() => true) });
    try {
      await writeBenchmark('priced', judge, { judge_model_id: 'openai:gpt-4o-mini' });
      const few = { ...options, benchmark: 'configs/benchmarks/priced.yaml', limit: 4, outputDir: 'priced' };
      const env = { OPENAI_API_KEY: 'key' };
      expect(await judgeAudit({ ...few, maxCostUsd: 1e-6 }, { ...io(), env })).toBe(3);
      expect(judge.stats.answered).toBeLessThanOrEqual(16);
      expect(await judgeAudit({ ...few, maxCostUsd: 1 }, { ...io(), env })).toBe(0);
      expect(judge.stats.answered).toBe((await written('priced')).messages);
    } finally {
      await judge.close();
    }
  });

  it('goes on where it stopped, and pays for no reply twice', async () => {
    let locked = true;
    let answered = 0;
    const judge = await startLoopback({
      raw: () => (locked && answered >= 40 ? { status: 401, body: '{"error": {"message": "no"}}' } : undefined),
      answer: (body) => {
        answered += 1;
        return wrongJudge(() => true)(body);
      },
    });
    try {
      await writeBenchmark('stopping', judge);
      const few = { ...options, benchmark: 'configs/benchmarks/stopping.yaml', limit: 4, outputDir: 'stopping' };
      await expect(judgeAudit(few, io())).rejects.toMatchObject({ code: 'model_auth' });
      expect(await readdir(project.path('stopping'))).toEqual(['.calls']);
      locked = false;
      expect(await judgeAudit(few, io())).toBe(0);
      expect(answered).toBe((await written('stopping')).messages);
      expect(await readdir(project.path('stopping'))).not.toContain('.calls');
    } finally {
      await judge.close();
    }
  });

  it('counts messages that a judge cannot be asked about as failed, and says so', async () => {
    const judge = await startLoopback({
      raw: ({ body }) =>
        JSON.stringify(body).includes('in base64') ? { status: 400, body: '{"error": {"message": "odd"}}' } : undefined,
      answer: wrongJudge(() => true),
    });
    try {
      await writeBenchmark('failing', judge);
      const few = { ...options, benchmark: 'configs/benchmarks/failing.yaml', limit: 20, kinds: ['encoded'] };
      expect(await judgeAudit({ ...few, outputDir: 'failing' }, io())).toBe(1);
      const { results, failures } = await written('failing');
      expect(failures).toMatchObject([{ judge: 'ci_llm_judge:openai-compatible:judge', code: 'model_bad_request' }]);
      const kind = results[0]?.sides[0]?.kinds[0];
      expect(kind?.correct.failed).toBeGreaterThan(0);
      expect((kind?.correct.denominator ?? 0) + (kind?.correct.failed ?? 0)).toBe(20);
    } finally {
      await judge.close();
    }
  });

  it('counts what could not be judged apart', async () => {
    const flaky = await startLoopback({ answer: () => 'no JSON here' });
    try {
      await writeBenchmark('flaky', flaky);
      const few = { ...options, benchmark: 'configs/benchmarks/flaky.yaml', limit: 2, kinds: ['verbatim'] };
      expect(await judgeAudit({ ...few, outputDir: 'flaky' }, io())).toBe(0);
      const { results } = await written('flaky');
      expect(results[0]?.sides[0]).toMatchObject({
        sensitivity: { defined: false, unjudged: 2, reason: 'no message was judged' },
        kinds: [{ kind: 'verbatim', truth: true, correct: { defined: false, unjudged: 2 } }],
      });
      // Beside it, the string rule needs no judge.
      expect(results[1]).toMatchObject({ judge: 'ci_string_match:raw', sides: [{ sensitivity: { value: 1 } }, {}] });
    } finally {
      await flaky.close();
    }
  });
});
