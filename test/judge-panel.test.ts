import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judgeLabels } from '../src/cli/judge-labels.ts';
import { generateReport, rollup } from '../src/cli/reports.ts';
import { run } from '../src/cli/run.ts';
import { type CiGrade, ciGradeSchema } from '../src/schema/ci-grade.ts';
import { ciRollupSchema } from '../src/schema/ci-metrics.ts';
import { labelAgreementSchema } from '../src/schema/label-agreement.ts';
import { judgedRunFiles } from './support/judged-run.ts';
import { type ChatBody, type Loopback, startLoopback } from './support/loopback-chat.ts';
import { ruleAnswer } from './support/loopback-judge.ts';
import { makeProject, type Project, readJsonLines } from './support/project.ts';

/** Judges by rule, each model in its own way, since what a model is called is part of the request. */
const answer = (body: ChatBody): string =>
  ruleAnswer({ ...body, messages: [{ role: 'system', content: String(body.model) }, ...body.messages] });

describe('several judge models', { timeout: 60_000 }, () => {
  let server: Loopback;
  let project: Project;
  const out: string[] = [];
  const notes: string[] = [];
  const io = () => ({
    out: (line: string) => out.push(line),
    note: (line: string) => notes.push(line),
    terminal: false,
    env: { OPENAI_API_KEY: 'key' },
    cwd: project.dir,
  });

  beforeAll(async () => {
    server = await startLoopback({ answer });
    const files = await judgedRunFiles({ baseUrl: server.baseUrl });
    const benchmark = files['configs/benchmarks/judged.yaml'] as { evaluator: object };
    const at = { base_url: server.baseUrl };
    const evaluator = {
      ...benchmark.evaluator,
      judge_model_id: 'openai:gpt-4o-mini',
      extra_judges: [
        { judge_model_id: 'openai-compatible:claude-haiku', ...at },
        { judge_model_id: 'openai-compatible:qwen3', ...at },
      ],
      decision: 'majority',
    };
    files['configs/benchmarks/judged.yaml'] = { ...benchmark, evaluator };
    files['configs/agents/agent.yaml'] = { ...files['configs/agents/agent.yaml'], model_id: 'openai:gpt-4o' };
    project = await makeProject(files as Record<string, object>);
  });
  afterAll(async () => {
    await server.close();
    await project.remove();
  });

  const options = { config: 'configs/runs/judged.yaml', outputDir: 'results', limit: 6 };
  const grades = async (): Promise<CiGrade[]> =>
    (await readJsonLines(project.path('results/arm/runs.jsonl'))).map(({ grade }) => ciGradeSchema.parse(grade));

  it('are planned, and a judge of the agent’s family is warned about', async () => {
    out.length = 0;
    expect(await run({ ...options, dryRun: true, json: true }, io())).toBe(0);
    const plan = JSON.parse(out[0] ?? '') as { models: { role: string; model_id: string; calls: number }[] };
    const judges = plan.models.filter(({ role }) => role === 'judge');
    expect(judges.map(({ model_id }) => model_id)).toEqual([
      'openai:gpt-4o-mini',
      'openai-compatible:claude-haiku',
      'openai-compatible:qwen3',
    ]);
    expect(new Set(judges.map(({ calls }) => calls)).size).toBe(1);
    expect(notes.filter((line) => line.includes('one model family'))).toEqual([
      expect.stringContaining('openai:gpt-4o-mini judges openai:gpt-4o,'),
    ]);
  });

  it('grade one run: verdicts of each, and a majority that decides', async () => {
    expect(await run({ ...options, quiet: true }, io())).toBe(0);
    for (const grade of await grades()) {
      expect(grade.primary).toBe('majority');
      for (const { verdicts } of grade.secrets) {
        const votes = ['openai:gpt-4o-mini', 'openai-compatible:claude-haiku', 'openai-compatible:qwen3'].map(
          (model) => {
            const verdict = verdicts[`ci_llm_judge:${model}`];
            return verdict?.status === 'judged' && verdict.value;
          },
        );
        expect(verdicts.majority).toMatchObject({ value: votes.filter(Boolean).length >= 2 });
      }
    }
  });

  it('are compared in the report and in the rollup', async () => {
    expect(await generateReport({ resultsDir: 'results' }, io())).toBe(0);
    const report = await readFile(project.path('results/arm/report.md'), 'utf8');
    expect(report).toContain('## Several judge models');
    expect(report).toContain('### Disputed items');
    expect(report).toContain('Agent and judge are of one model family');
    expect(await rollup({ resultsDir: 'results' }, io())).toBe(0);
    const metrics = ciRollupSchema.parse(
      JSON.parse(await readFile(project.path('results/_rollup/ci/metrics.json'), 'utf8')),
    );
    const all = await grades();
    const disputed = all
      .flatMap(({ secrets }) => secrets)
      .filter(({ verdicts }) => {
        const said = Object.entries(verdicts).filter(([id]) => id.startsWith('ci_llm_judge'));
        return new Set(said.map(([, verdict]) => verdict.status === 'judged' && verdict.value)).size > 1;
      });
    expect(metrics.arms[0]?.panel).toMatchObject({ disputed: { secret: disputed.length } });
    expect(metrics.arms[0]?.panel?.judges).toHaveLength(3);
  });

  it('are held against human labels', async () => {
    const [grade] = await grades();
    const [record] = await readJsonLines(project.path('results/arm/runs.jsonl'));
    const rows = (grade?.secrets ?? []).map(({ key }) => `arm/${record?.sample_id}/0,"secret:${key}",yes`);
    await project.write('labels.csv', `record,item,label\n${rows.join('\n')}\n`);
    out.length = 0;
    expect(await judgeLabels('results', { labels: 'labels.csv' }, io())).toBe(0);
    const file = project.path('results/_judges/label_agreement.json');
    const { sides, judges } = labelAgreementSchema.parse(JSON.parse(await readFile(file, 'utf8')));
    expect(judges.map(({ id }) => id)).toContain('majority');
    const yes = (id: string) =>
      (grade?.secrets ?? []).filter(({ verdicts }) => verdicts[id]?.status === 'judged' && verdicts[id].value).length;
    for (const { judge, agreement } of sides[0]?.judges ?? [])
      expect(agreement).toMatchObject({ numerator: yes(judge) });
    expect(out.join('\n')).toContain('label_agreement.md');

    await project.write('bad.csv', 'record,item,label\narm/none/0,helpfulness,1\n');
    await expect(judgeLabels('results', { labels: 'bad.csv' }, io())).rejects.toMatchObject({
      code: 'labels_unknown_record',
      where: { file: project.path('bad.csv'), line: 2, column: 1 },
    });
    await expect(judgeLabels('results', { labels: 'none.csv' }, io())).rejects.toMatchObject({
      code: 'labels_unreadable',
    });
  });
});
