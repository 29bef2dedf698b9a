import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakeSample } from '../../test/support/fake-parts.ts';
import type { Sample } from '../contracts/benchmark.ts';
import { type PlanInput, pendingJobs, planJobs } from './plan-jobs.ts';

const input: PlanInput = {
  benchmark: { judge: 'openai:gpt-4o-mini' },
  arms: [
    { name: 'one', identity: { memory: 'bm25', top_k: 3 } },
    { name: 'two', identity: { memory: 'vector', top_k: 3 } },
  ],
  samples: [fakeSample('s0'), fakeSample('s1'), fakeSample('s2')],
  repeats: 2,
  seed: 0,
};

const firstKey = (changed: Partial<PlanInput> = {}) => planJobs({ ...input, ...changed })[0]?.key;
const oneArm = (name: string, identity: unknown) => ({ arms: [{ name, identity }] });
const oneSample = (overrides: Partial<Sample>) => ({ samples: [fakeSample('s0', overrides)] });

describe('planJobs', () => {
  it('goes through arms first, then samples, then repeats', () => {
    const order = planJobs(input).map(({ experiment, sample, repeat }) => `${repeat} ${sample.id} ${experiment}`);
    expect(order).toEqual([
      ...['0 s0 one', '0 s0 two', '0 s1 one', '0 s1 two', '0 s2 one', '0 s2 two'],
      ...['1 s0 one', '1 s0 two', '1 s1 one', '1 s1 two', '1 s2 one', '1 s2 two'],
    ]);
  });

  it('gives the same jobs for the same input, whatever the order of keys in it', () => {
    const again = structuredClone(input);
    again.arms = [
      { identity: { top_k: 3, memory: 'bm25' }, name: 'one' },
      { identity: { top_k: 3, memory: 'vector' }, name: 'two' },
    ];
    expect(planJobs(again)).toEqual(planJobs(input));
  });

  it('keeps its keys from release to release: a changed key would run and pay for everything again', () => {
    // Worked out apart, from two SHA-256 of JSON with sorted keys.
    expect(firstKey()).toBe('03cef73913a75b6b4b72445379767cb0');
  });

  it.each<[string, Partial<PlanInput>]>([
    ['the content of the sample', oneSample({ hash: 'other' })],
    ['the id of the sample', oneSample({ id: 'other' })],
    ['the identity of the arm', oneArm('one', { memory: 'bm25', top_k: 4 })],
    ['the name of the arm', oneArm('other', { memory: 'bm25', top_k: 3 })],
    ['the identity of the benchmark', { benchmark: { judge: 'openai:gpt-4o' } }],
    ['the seed', { seed: 1 }],
  ])('changes the key with %s', (_, changed) => {
    expect(firstKey(changed)).not.toBe(firstKey());
  });

  it('does not change the key with what cannot change the outcome', () => {
    expect(firstKey({ repeats: 5 })).toBe(firstKey());
    expect(firstKey({ samples: [fakeSample('s0'), fakeSample('s9')] })).toBe(firstKey());
    expect(firstKey(oneArm('one', { memory: 'bm25', top_k: 3 }))).toBe(firstKey());
    expect(firstKey(oneSample({ tags: { domain: 'Other' }, cluster: 'other' }))).toBe(firstKey());
  });

  it('gives every job a key of its own, and every sample of every arm and repeat a job', () => {
    const names = fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 6 }), { maxLength: 5 });
    const identity = fc.constantFrom({ memory: 'bm25' }, { memory: 'vector' }, undefined);
    fc.assert(
      fc.property(names, names, identity, fc.integer({ min: 1, max: 4 }), (arms, ids, identity, repeats) => {
        const jobs = planJobs({
          ...input,
          arms: arms.map((name) => ({ name, identity })),
          // The same content under many ids: rows of a dataset repeat each other.
          samples: ids.map((id) => fakeSample(id, { hash: 'same' })),
          repeats,
        });
        expect(jobs.length).toBe(arms.length * ids.length * repeats);
        expect(new Set(jobs.map(({ key }) => key)).size).toBe(jobs.length);
        for (const { key } of jobs) expect(key).toMatch(/^[0-9a-f]{32}$/);
      }),
    );
  });
});

describe('pendingJobs', () => {
  const jobs = planJobs(input);

  it('is what is planned and not done, in the order of the plan', () => {
    fc.assert(
      fc.property(fc.subarray(jobs), (finished) => {
        const done = new Map<string, Set<string>>();
        for (const { experiment, key } of finished) {
          done.set(experiment, (done.get(experiment) ?? new Set(['a key of another plan'])).add(key));
        }
        const left = pendingJobs(jobs, done);
        const isFinished = new Set(finished);
        expect(left).toEqual(jobs.filter((job) => !isFinished.has(job)));
        expect(pendingJobs(left, done)).toEqual(left);
      }),
    );
  });

  it('does not take the word of another experiment', () => {
    const keys = new Set(jobs.map(({ key }) => key));
    expect(pendingJobs(jobs, new Map([['three', keys]]))).toEqual(jobs);
    expect(pendingJobs(jobs, new Map([['one', keys]]))).toEqual(jobs.filter(({ experiment }) => experiment === 'two'));
  });
});
