import { afterEach, describe, expect, it } from 'vitest';
import { fakeRegistry, goodFiles } from '../../test/support/fake-registry.ts';
import { makeProject, type Project } from '../../test/support/project.ts';
import { componentIdentity, fingerprintOf, identityDiff, runIdentity } from './identity.ts';
import { loadRun } from './load-run.ts';
import { withOverrides } from './overrides.ts';

const projects: Project[] = [];
afterEach(async () => {
  await Promise.all(projects.splice(0).map((project) => project.remove()));
});

const runFile = 'configs/runs/smoke.yaml';
const agentFile = 'configs/agents/writer.yaml';
const memoryFile = 'configs/memory/keyword.yaml';
const benchmarkFile = 'configs/benchmarks/quiz.yaml';
const source = { sha256: 'abc', revision: 'r1', rows: 3 };

const base: Record<string, string> = {
  ...goodFiles,
  [benchmarkFile]:
    'benchmark: quiz\ndataset: { hub: some/data }\ntask_prompt: "{{ user_task }}"\n' +
    'evaluator: { type: judge, judge_model_id: "openai:gpt", judge_prompt: "{{ value }}" }\n',
};

async function load(files: Record<string, string> = {}) {
  const project = await makeProject({ ...base, ...files });
  projects.push(project);
  return loadRun(project.path(runFile), fakeRegistry);
}

/** The base files with one text of one file replaced. */
const changed = (file: string, from: string, to: string) => {
  const text = base[file] as string;
  if (!text.includes(from)) throw new Error(`no "${from}" in ${file}`);
  return { [file]: text.replace(from, to) };
};

describe('the fingerprint of a run', () => {
  const fingerprint = async (files: Record<string, string>) => fingerprintOf(runIdentity(await load(files), source));

  it('is 16 hex digits, and the same each time', async () => {
    const one = await fingerprint({});
    expect(one).toMatch(/^[0-9a-f]{16}$/);
    expect(await fingerprint({})).toBe(one);
  });

  it.each([
    ["an agent's prompt", agentFile, 'You write', 'Write'],
    ["an agent's model", agentFile, 'builtin:echo', 'builtin:empty'],
    ["an agent's temperature", agentFile, 'model_id', 'temperature: 0.3\nmodel_id'],
    ["an agent's address", agentFile, 'model_id', 'base_url: http://localhost:1/v1\nmodel_id'],
    ["a memory's option", memoryFile, 'top_k: 3', 'top_k: 4'],
    ["a memory's nested option", memoryFile, 'top_k: 3', 'top_k: 3\nranking: { k1: 1.3 }'],
    ['the stimulus', benchmarkFile, '"{{ user_task }}"', '"Do {{ user_task }}"'],
    ['a judge prompt', benchmarkFile, '{{ value }}', '{{ value }}?'],
    ['the judge', benchmarkFile, 'openai:gpt', 'openai:gpt-5'],
    ['a threshold', benchmarkFile, 'type: judge,', 'type: judge, threshold: 3,'],
    ['the seed', runFile, 'name: smoke', 'name: smoke\nseed: 1'],
    ['the repeats', runFile, 'name: smoke', 'name: smoke\nrepeats: 2'],
    ["an agent's name, which its records carry", agentFile, 'model_id', 'name: x\nmodel_id'],
    ["a memory's name", memoryFile, 'top_k', 'name: x\ntop_k'],
    ['the name of an arm, which is the name of its folder', runFile, 'name: arm', 'name: arm2'],
  ])('changes with %s', async (_what, file, from, to) => {
    expect(await fingerprint(changed(file, from, to))).not.toBe(await fingerprint({}));
  });

  it.each([
    ['the name of the run', runFile, 'name: smoke', 'name: other'],
    ['a description', runFile, 'name: smoke', 'name: smoke\ndescription: text'],
    ['concurrency', runFile, 'name: smoke', 'name: smoke\nconcurrency: 1\nmax_connections: 1'],
    ['a budget', runFile, 'name: smoke', 'name: smoke\nbudget: { max_calls: 1 }\nmax_failures: 3'],
    ['where replies are cached', runFile, 'name: smoke', 'name: smoke\ncache_dir: x'],
    ['a deadline', runFile, 'name: smoke', 'name: smoke\nmemory_ready_timeout_s: 1'],
    ["an agent's description", agentFile, 'model_id', 'description: y\nmodel_id'],
    ["how an agent's calls travel", agentFile, 'model_id', 'timeout_s: 1\nmax_connections: 2\nmodel_id'],
    ["where an agent's key is", agentFile, 'model_id', 'api_key_env: MINE\nheaders: { a: b }\nmodel_id'],
    ["how the judge's calls travel", benchmarkFile, 'type: judge,', 'type: judge, timeout_s: 1,'],
    ['where the dataset is kept', benchmarkFile, 'hub: some/data', 'file: here.jsonl'],
    ['a limit on the samples', benchmarkFile, 'hub: some/data', 'hub: some/data, limit: 2'],
    ['a default that is written out', memoryFile, 'backend: keyword', '# words\nname: keyword\nbackend: keyword'],
  ])('stays the same with %s', async (_what, file, from, to) => {
    expect(await fingerprint(changed(file, from, to))).toBe(await fingerprint({}));
  });

  it('stays the same when arms change places, and when overrides are given', async () => {
    const arms = (names: string[]) =>
      `name: smoke\nbenchmark_config_file: quiz.yaml\nexperiments:\n${names
        .map((name) => `  - { name: ${name}, agent_config_file: writer.yaml, memory_config_file: keyword.yaml }\n`)
        .join('')}`;
    const run = await load({ [runFile]: arms(['a', 'b']) });
    const before = fingerprintOf(runIdentity(run, source));
    expect(await fingerprint({ [runFile]: arms(['b', 'a']) })).toBe(before);
    const overridden = withOverrides(run, { limit: 1, experiments: ['b'], concurrency: 1, maxCostUsd: 1 });
    expect(fingerprintOf(runIdentity(overridden, source))).toBe(before);
  });

  it('changes with the content of the dataset, not with what is said about it', async () => {
    const run = await load();
    const before = fingerprintOf(runIdentity(run, source));
    expect(fingerprintOf(runIdentity(run, { ...source, rows: 9, path: '/else' }))).toBe(before);
    expect(fingerprintOf(runIdentity(run, { ...source, sha256: 'abd' }))).not.toBe(before);
    expect(fingerprintOf(runIdentity(run, { ...source, revision: 'r2' }))).not.toBe(before);
  });
});

describe('componentIdentity', () => {
  it('names the plug-in, and holds no header and no password', async () => {
    const run = await load(
      changed(agentFile, 'model_id', 'headers: { k: hush1 }\nbase_url: http://me:hush2@host/v1\nmodel_id'),
    );
    expect(componentIdentity((run.arms[0] as (typeof run.arms)[number]).agent)).toEqual({
      plugin: 'llm',
      kind: 'llm',
      model_id: 'builtin:echo',
      instructions: 'You write to {{ recipient }}.',
      base_url: 'http://<redacted>@host/v1',
    });
  });
});

describe('identityDiff', () => {
  it('is empty for equal values, whatever the order of their keys', () => {
    expect(identityDiff({ a: 1, b: { c: [1, 2] } }, { b: { c: [1, 2] }, a: 1 })).toEqual([]);
  });

  it('tells every path that changed, came or went, in order', () => {
    const before = { seed: 0, gone: 'x', deep: { list: [1, 2], same: true }, empty: {} };
    const now = { seed: 1, deep: { list: [1, 3, 4], same: true, fresh: null }, empty: [] };
    expect(identityDiff(before, now)).toEqual([
      'deep.fresh: (absent) -> null',
      'deep.list.1: 2 -> 3',
      'deep.list.2: (absent) -> 4',
      'empty: {} -> []',
      'gone: "x" -> (absent)',
      'seed: 0 -> 1',
    ]);
  });

  it('tells a text from a number', () => {
    expect(identityDiff({ a: 1 }, { a: '1' })).toEqual(['a: 1 -> "1"']);
  });

  it('shows long texts where they begin to differ', () => {
    const [line] = identityDiff(
      { p: `${'a'.repeat(300)}OLD${'z'.repeat(300)}` },
      { p: `${'a'.repeat(300)}NEW${'z'.repeat(300)}` },
    );
    const side = (word: string) => `...${'a'.repeat(20)}${word}${'z'.repeat(77)}...`;
    expect(line).toBe(`p: ${side('OLD')} -> ${side('NEW')}`);
  });

  it('shows long texts from their start where they differ there', () => {
    const [line] = identityDiff({ p: `OLD${'z'.repeat(300)}` }, { p: 'NEW' });
    expect(line).toBe(`p: "OLD${'z'.repeat(96)}... -> "NEW"`);
  });
});
