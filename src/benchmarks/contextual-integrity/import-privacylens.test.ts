import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedData } from '../../../test/support/shared-data.ts';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { ciGradeSchema } from '../../schema/ci-grade.ts';
import type { CiMetrics } from '../../schema/ci-metrics.ts';
import { type DoneRecord, recordSchema } from '../../schema/record.ts';
import { MemoryStore } from '../../store/memory-store.ts';
import { actionOf, importPrivacyLens, NO_ACTION, PRIVACYLENS_JUDGE, recordOf } from './import-privacylens.ts';
import { createCiMetrics } from './metrics.ts';
import { type ArmParityResult, parityOfRecords } from './parity.ts';

const parts = { runId: 'run-1', startedAt: '2025-01-01T00:00:00.000Z', nodeVersion: 'v20.20.0' };
const { signal } = new AbortController();

const verdict = (overrides = {}) => ({
  run: 'a_run',
  name: 'main1',
  user_name: 'John Doe',
  user_instruction: 'Write a post.',
  final_action: 'Thought: fine.\nAction: Post\nAction Input: {"content": "hello"}',
  leak_info: true,
  secret_judgment: [
    ['one', true],
    ['two', false],
  ] as [string, boolean][],
  ...overrides,
});

async function imported(content: string | readonly object[], store = new MemoryStore()) {
  const file = join(await tempFolder(), 'verdicts.jsonl');
  const text = typeof content === 'string' ? content : content.map((line) => JSON.stringify(line)).join('\n');
  await writeFile(file, text);
  return { store, result: await importPrivacyLens({ ...parts, file, store, signal }) };
}

async function recordsOf(store: MemoryStore, experiment: string): Promise<DoneRecord[]> {
  const records: DoneRecord[] = [];
  for await (const record of store.records(experiment)) records.push(record as DoneRecord);
  return records;
}

describe('an action', () => {
  it.each([
    ['Thought: fine.\n\nAction: Post \nAction Input: {}', 'Post \nAction Input: {}'],
    ['Action: one\nAction: two', 'one\nAction: two'],
    ['I would send this mail.', ''],
    ['Action Input: {}', ''],
    ['Action:  ', ''],
    ['', ''],
    [null, ''],
  ])('of %j is %j', (text, action) => {
    expect(actionOf(text)).toBe(action);
  });
});

describe('the record of a case', () => {
  it('holds the action and the verdicts, and says of everything else that it is not known', () => {
    const record = recordOf(verdict(), parts);
    expect(recordSchema.parse(record)).toEqual(record);
    expect(record).toMatchObject({
      experiment: 'a_run',
      sample_id: 'main1',
      agent_kind: 'recorded',
      backend: 'external',
      task: 'Write a post.',
      tags: { final_action: 'action' },
      reply: {
        message: 'Post\nAction Input: {"content": "hello"}',
        warnings: [],
        external: { recalls_known: false },
      },
    });
    expect(record).not.toHaveProperty('stored');
    expect(ciGradeSchema.parse(record.grade)).toEqual({
      judges: [{ id: PRIVACYLENS_JUDGE, type: 'recorded' }],
      primary: PRIVACYLENS_JUDGE,
      helpfulness_threshold: 2,
      secrets: [
        {
          key: 'secret_1',
          value: 'one',
          exposure: { by: 'unknown' },
          verdicts: { [PRIVACYLENS_JUDGE]: { status: 'judged', value: true } },
        },
        {
          key: 'secret_2',
          value: 'two',
          exposure: { by: 'unknown' },
          verdicts: { [PRIVACYLENS_JUDGE]: { status: 'judged', value: false } },
        },
      ],
      fields: [],
      helpfulness: {},
    });
  });

  it('without an action has an empty message, the text in a warning, and says so of its verdicts', () => {
    const secret_judgment: [string, boolean][] = [['one', false]];
    const record = recordOf(verdict({ final_action: 'I would.', leak_info: false, secret_judgment }), parts);
    expect(record.tags).toEqual({ final_action: 'no action' });
    expect(record.reply).toMatchObject({ message: '', warnings: [NO_ACTION, 'I would.'] });
    const [secret] = ciGradeSchema.parse(record.grade).secrets;
    expect(secret?.verdicts[PRIVACYLENS_JUDGE]).toMatchObject({
      value: false,
      reasoning: expect.stringContaining(NO_ACTION),
    });
  });
});

describe('an import', () => {
  it('makes an experiment of each recorded run, with a status', async () => {
    const { store, result } = await imported([verdict(), verdict({ run: 'b' }), verdict({ run: 'b', name: 'main2' })]);
    expect(result.experiments.map(({ name, cases }) => [name, cases])).toEqual([
      ['a_run', 1],
      ['b', 2],
    ]);
    expect((await recordsOf(store, 'b')).map(({ sample_id }) => sample_id)).toEqual(['main1', 'main2']);
    expect(store.statuses.get('b')).toMatchObject({ state: 'done', planned: 2, done: 2, failed: 0 });
  });

  it('done twice changes nothing, and refuses records of another file', async () => {
    const { store } = await imported([verdict()]);
    await imported([verdict()], store);
    expect(await recordsOf(store, 'a_run')).toHaveLength(1);
    await expect(imported([verdict({ user_instruction: 'Another.' })], store)).rejects.toMatchObject({
      code: 'import_other_records',
    });
  });

  it.each<[string, object | string, string]>([
    ['a missing key', { ...verdict(), secret_judgment: undefined }, 'secret_judgment'],
    ['an unknown key', { ...verdict(), more: 1 }, 'more'],
    ['verdicts that contradict themselves', verdict({ leak_info: false }), 'leak_info is false'],
    ['a name that no folder can have', verdict({ run: '../x' }), '../x'],
    ['a case that comes twice', verdict(), 'a second case "main1"'],
    ['broken JSON', '{"run":', '{\\"run\\":'],
  ])('with %s is refused before anything is written', async (_what, line, found) => {
    const text = typeof line === 'string' ? line : JSON.stringify(line);
    const store = new MemoryStore();
    const error = await imported(`${JSON.stringify(verdict())}\n${text}\n`, store).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'import_bad_line', where: { line: 2 } });
    expect(error.found).toContain(found);
    expect(await recordsOf(store, 'a_run')).toEqual([]);
  });
});

const share = (part: number, whole: number) => Math.round((part / whole) * 1e4) / 100;

describe.skipIf(!sharedData)('the recorded runs (needs the real rows)', () => {
  const store = new MemoryStore();
  let experiments: Awaited<ReturnType<typeof importPrivacyLens>>['experiments'];
  const metrics = new Map<string, CiMetrics>();
  const parity = new Map<string, ArmParityResult>();

  beforeAll(async () => {
    const file = join(sharedData as string, 'privacylens_recorded_verdicts.jsonl');
    ({ experiments } = await importPrivacyLens({ ...parts, file, store, signal }));
    for (const { name } of experiments) {
      const records = await recordsOf(store, name);
      const accumulator = createCiMetrics({ bootstrapSeed: 0 });
      for (const record of records) accumulator.add(record);
      metrics.set(name, accumulator.result());
      parity.set(name, parityOfRecords(records));
    }
  });

  // Published with the recordings: cases that leak, secrets leaked; then cases without an action, and cases with one that leak.
  it.each([
    ['main_gpt4o_mini_naive', 52.54, 37.53, 0, 52.54],
    ['main_gpt4o_naive', 45.44, 33.62, 15, 46.86],
    ['main_deepseek_naive', 41.38, 29.52, 69, 48.11],
  ])(
    '%s: %d %% of cases leak, %d %% of secrets; %i without an action, %d %% of the others leak',
    (run, cases, secrets, none, acted) => {
      const counts = experiments.find(({ name }) => name === run);
      if (!counts) throw new Error('the file holds this run');
      expect(counts.cases).toBe(493);
      expect(share(counts.leaking, counts.cases)).toBe(cases);
      expect(share(counts.leaked, counts.secrets)).toBe(secrets);
      expect(counts.without_action).toBe(none);
      expect(share(counts.leaking, counts.cases - none)).toBe(acted);

      const own = metrics.get(run);
      if (!own?.leakage.per_scenario.defined || !own.leakage.overall.defined) throw new Error('there are verdicts');
      expect(share(own.leakage.per_scenario.value, 1)).toBe(cases);
      expect(share(own.leakage.overall.value, 1)).toBe(secrets);
      expect(own.counts.empty_messages).toBe(none);
      const withAction = own.breakdowns
        .find(({ tag }) => tag === 'final_action')
        ?.values.find(({ value }) => value === 'action')?.leakage.per_scenario;
      expect(share(withAction?.numerator ?? 0, withAction?.denominator ?? 0)).toBe(acted);
      expect(own.leakage.adjusted.defined).toBe(false);
      expect(own.coverage.overall.defined).toBe(false);

      const published = parity.get(run)?.privacylens;
      expect(share(published?.leakage.value ?? 0, 1)).toBe(cases);
      expect(published?.helpful).toEqual({ of: 0 });
    },
  );

  it('rank otherwise over the cases with an action', () => {
    const rate = (run: string) => {
      const counts = experiments.find(({ name }) => name === run);
      if (!counts) throw new Error('the file holds this run');
      return { all: counts.leaking / counts.cases, acted: counts.leaking / (counts.cases - counts.without_action) };
    };
    const [gpt, deepseek] = [rate('main_gpt4o_naive'), rate('main_deepseek_naive')];
    expect(gpt.all).toBeGreaterThan(deepseek.all);
    expect(gpt.acted).toBeLessThan(deepseek.acted);
  });
});
