import { readFile, rm, writeFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { judgedRunFiles } from '../../test/support/judged-run.ts';
import { type Loopback, type LoopbackOptions, startLoopback } from '../../test/support/loopback-chat.ts';
import { ruleAnswer } from '../../test/support/loopback-judge.ts';
import { makeProject, type Project, readJsonLines, testHost } from '../../test/support/project.ts';
import { type CiGrade, ciGradeSchema } from '../schema/ci-grade.ts';
import { type DoneRecord, recordSchema, type SampleRecord } from '../schema/record.ts';
import { recordLine } from '../store/records.ts';
import { executeRun } from './execute-run.ts';
import { loadBenchmark, loadRun } from './load-run.ts';
import { withOverrides } from './overrides.ts';
import { builtinRegistry as registry } from './registry.ts';
import { type RegradeInput, regradeRun } from './regrade.ts';

const SAMPLES = 3;
const { signal } = new AbortController();

describe('grading a run again', { timeout: 60_000 }, () => {
  let answer: NonNullable<LoopbackOptions['answer']> = ruleAnswer;
  let server: Loopback;
  let project: Project;
  let evaluator: Record<string, unknown>;
  let benchmark: Record<string, unknown>;

  /** Runs one arm over the first samples, and gives its folder. */
  async function sourceRun(): Promise<string> {
    const run = withOverrides(await loadRun(project.path('configs/runs/judged.yaml'), registry), { limit: SAMPLES });
    await executeRun({ run, host: testHost(project.dir), outputDir: project.path('source'), stop: signal, signal });
    return project.path('source');
  }

  /** Grades the source again with a changed benchmark; counts what was asked of the server. */
  async function gradeAgain(to: string, changed: object = benchmark, more: Partial<RegradeInput> = {}) {
    const file = project.path(`${to}.yaml`);
    await writeFile(file, stringify(changed));
    const asked = server.stats.requests;
    const composed = await regradeRun({
      resultsDir: project.path('source'),
      benchmark: await loadBenchmark(file, registry),
      registry,
      ...more,
    });
    const outputDir = project.path(to);
    const outcome = await executeRun({ run: composed, host: testHost(project.dir), outputDir, stop: signal, signal });
    return { outcome, asked: server.stats.requests - asked, records: await recordsOf(to) };
  }

  const recordsOf = async (folder: string): Promise<SampleRecord[]> =>
    (await readJsonLines(project.path(folder, 'arm', 'runs.jsonl'))).map((value) => recordSchema.parse(value));
  const gradeOf = (record: SampleRecord | undefined): CiGrade => ciGradeSchema.parse((record as DoneRecord).grade);
  const rewrite = async (records: readonly SampleRecord[]) =>
    writeFile(project.path('source/arm/runs.jsonl'), records.map(recordLine).join(''));

  beforeAll(async () => {
    server = await startLoopback({ answer: (body, n) => answer(body, n) });
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    answer = ruleAnswer;
    const files = await judgedRunFiles({ baseUrl: server.baseUrl });
    project = await makeProject(files);
    benchmark = files['configs/benchmarks/judged.yaml'] as typeof benchmark;
    evaluator = benchmark.evaluator as typeof evaluator;
    await sourceRun();
  });
  afterEach(() => project.remove());

  it('asks nothing of the same judge, and gives the same records but for who ran them', async () => {
    const { asked, records } = await gradeAgain('again');
    expect(asked).toBe(0);
    const before = await recordsOf('source');
    expect(records).toHaveLength(SAMPLES);
    for (const record of records) {
      const same = before.find(({ sample_id }) => sample_id === record.sample_id) as DoneRecord;
      const { agent, agent_kind, memory, backend, facts, stored, reply, cluster, task, tags } = same;
      expect(record).toMatchObject({ agent, agent_kind, memory, backend, facts, stored, reply, cluster, task, tags });
      expect((record as DoneRecord).grade).toEqual(same.grade);
      expect(record.run_id).not.toBe(same.run_id);
      expect(record.usage.agent.calls + record.usage.prime.calls + record.usage.judge.calls).toBe(0);
    }
    const config = await readFile(project.path(`again/run_config.${records[0]?.run_id}.yaml`), 'utf8');
    expect(config).toContain(`run_id: ${before[0]?.run_id}`);
  });

  it('asks another judge about everything once, keeps both, and asks nothing on resume', async () => {
    const before = await recordsOf('source');
    const questions = before.reduce((sum, { usage }) => sum + usage.judge.calls, 0);
    const first = await gradeAgain('other', benchmark, { judgeModelId: 'openai-compatible:other' });
    expect(first.asked).toBe(questions);
    for (const record of first.records) {
      const { judges, primary, secrets } = gradeOf(record);
      expect(primary).toBe('ci_llm_judge:openai-compatible:other');
      expect(judges.map(({ id }) => id)).toContain('ci_llm_judge:openai-compatible:judge');
      for (const { verdicts } of secrets) expect(Object.keys(verdicts)).toHaveLength(4);
      expect(record.usage.agent.calls).toBe(0);
      expect(record.usage.judge.calls).toBeGreaterThan(0);
    }
    const again = await gradeAgain('other', benchmark, { judgeModelId: 'openai-compatible:other' });
    expect(again.asked).toBe(0);
    expect(again.outcome).toMatchObject({ planned: SAMPLES, resumed: SAMPLES });
  });

  it('sets other prompts of the same model apart', async () => {
    const changed = { ...benchmark, evaluator: { ...evaluator, temperature: 0.7 } };
    const { records } = await gradeAgain('prompts', changed);
    const ids = gradeOf(records[0]).judges.map(({ id }) => id);
    expect(ids[0]).toMatch(/^ci_llm_judge:openai-compatible:judge#[0-9a-f]{12}$/);
    expect(ids).toContain('ci_llm_judge:openai-compatible:judge');
    expect(new Set(records.map((record) => gradeOf(record).primary))).toEqual(new Set([ids[0]]));
  });

  it('asks again for what the judge had left unjudged, and for nothing else', async () => {
    const before = await recordsOf('source');
    const [first, ...rest] = before as DoneRecord[];
    if (!first) throw new Error('the run has records');
    const hole = gradeOf(first);
    const [secret] = hole.secrets;
    if (!secret) throw new Error('the sample has secrets');
    secret.verdicts[hole.primary] = { status: 'unjudged', reason: 'empty', detail: 'no text', raw: '', attempts: 3 };
    await rewrite([{ ...first, grade: JSON.parse(JSON.stringify(hole)) }, ...rest]);
    const { asked, records } = await gradeAgain('mended');
    expect(asked).toBe(1);
    const mended = gradeOf(records.find(({ sample_id }) => sample_id === first.sample_id));
    expect(mended.secrets[0]?.verdicts[mended.primary]?.status).toBe('judged');
  });

  it('grades a sample whose judge had failed, and shows one that has no message as failed', async () => {
    const [first, second, third] = (await recordsOf('source')) as DoneRecord[];
    if (!first || !second || !third) throw new Error('the run has three records');
    const failed = ({ grade: _, ...record }: DoneRecord, stage: 'agent' | 'judge') =>
      ({ ...record, status: 'failed', error: { stage, code: 'model_timeout', message: 'no answer' } }) as SampleRecord;
    const { reply: _, ...mute } = failed(second, 'agent');
    await rewrite([failed(first, 'judge'), mute as SampleRecord, third]);
    const { outcome, records } = await gradeAgain('after_failures');
    expect(outcome).toMatchObject({ done: 2, failed: 1 });
    const byId = new Map(records.map((record) => [record.sample_id, record]));
    expect(byId.get(first.sample_id)?.status).toBe('done');
    expect(byId.get(second.sample_id)).toMatchObject({
      status: 'failed',
      error: { stage: 'agent', code: 'recorded_failure' },
    });
    // A judge whose grade one sample lacks has the same name in all.
    const done = records.filter(({ status }) => status === 'done');
    expect(new Set(done.map((record) => gradeOf(record).primary)).size).toBe(1);
  });

  it('fails samples that the dataset does not have, or has otherwise', async () => {
    const [first, second, third] = await recordsOf('source');
    if (!first || !second || !third) throw new Error('the run has three records');
    await rewrite([{ ...first, sample_id: 'gone' }, { ...second, task: 'Write something else.' }, third]);
    const { records } = await gradeAgain('differs');
    const codes = records.map((record) => (record.status === 'failed' ? record.error.code : 'done')).sort();
    expect(codes).toEqual(['done', 'graded_sample_differs', 'graded_sample_missing']);
  });

  it('refuses an arm with fewer records than it planned, unless told to take what is there', async () => {
    const [first, second] = await recordsOf('source');
    if (!first || !second) throw new Error('the run has records');
    await rewrite([first, second]);
    await expect(gradeAgain('part')).rejects.toMatchObject({
      code: 'grade_unfinished_run',
      where: { file: project.path('source/arm/runs.jsonl') },
      expected: '3 records, as planned',
      found: '2',
    });
    expect((await gradeAgain('allowed', benchmark, { allowMissing: true })).records).toHaveLength(2);
    await writeFile(project.path('source/arm/run_status.json'), '{');
    await expect(gradeAgain('damaged')).rejects.toMatchObject({ code: 'grade_bad_status' });
    // Without a status, as beside records from elsewhere, nothing is known of a plan.
    await rm(project.path('source/arm/run_status.json'));
    expect((await gradeAgain('foreign')).records).toHaveLength(2);
  });

  it('refuses a run with an experiment that has no record', async () => {
    const [first] = await recordsOf('source');
    const config = project.path(`source/run_config.${first?.run_id}.yaml`);
    const written = parse(await readFile(config, 'utf8')) as { experiments: object[] };
    const experiments = [...written.experiments, { ...written.experiments[0], name: 'other_arm' }];
    await writeFile(config, stringify({ ...written, experiments }));
    await expect(gradeAgain('half')).rejects.toMatchObject({
      code: 'grade_unfinished_run',
      where: { file: project.path('source') },
      found: 'none of other_arm',
    });
    expect((await gradeAgain('half', benchmark, { allowMissing: true })).records).toHaveLength(SAMPLES);
  });

  it('takes the first samples, whatever the dataset’s limit', async () => {
    const limited = { ...benchmark, dataset: { bundled: 'heams_scenarios', limit: 1 } };
    expect((await gradeAgain('all', limited)).records).toHaveLength(SAMPLES);
    expect((await gradeAgain('two', limited, { limit: 2 })).records).toHaveLength(2);
  });

  it('refuses a dataset that has none of the samples, and a folder without records', async () => {
    await rewrite((await recordsOf('source')).map((record) => ({ ...record, sample_id: `x-${record.sample_id}` })));
    await expect(gradeAgain('none')).rejects.toMatchObject({ code: 'grade_no_sample_known' });
    await rewrite([]);
    await expect(gradeAgain('empty')).rejects.toMatchObject({ code: 'results_no_records' });
  });
});
