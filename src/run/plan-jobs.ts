import type { Sample } from '../contracts/benchmark.ts';
import { hashOf } from '../lib/hash.ts';

/** One sample in one arm and repeat. */
export interface Job {
  /** Hash of everything that can change the outcome. */
  key: string;
  experiment: string;
  sample: Sample;
  repeat: number;
}

export interface PlannedArm {
  name: string;
  /** What of the arm's configuration can change an outcome. */
  identity: unknown;
}

export interface PlanInput {
  /** What of the benchmark's configuration can change an outcome, apart from the samples. */
  benchmark: unknown;
  arms: readonly PlannedArm[];
  samples: readonly Sample[];
  repeats: number;
  seed: number;
}

/**
 * Every job of a run, pure: the same input gives the same jobs in the same order. Samples come first and arms last,
 * so that a run that is stopped half-way has seen the same samples in every arm.
 */
export function planJobs({ benchmark, arms, samples, repeats, seed }: PlanInput): Job[] {
  const jobs: Job[] = [];
  const armHashes = arms.map((arm) => ({ name: arm.name, hash: hashOf({ benchmark, arm: arm.identity, seed }) }));
  for (let repeat = 0; repeat < repeats; repeat++) {
    for (const sample of samples) {
      for (const { name, hash } of armHashes) {
        const key = hashOf([name, hash, sample.id, sample.hash, repeat]).slice(0, 32);
        jobs.push({ key, experiment: name, sample, repeat });
      }
    }
  }
  return jobs;
}

/** What is left to do. Resuming is this set difference and nothing else. */
export function pendingJobs(jobs: readonly Job[], done: ReadonlyMap<string, ReadonlySet<string>>): Job[] {
  return jobs.filter((job) => !done.get(job.experiment)?.has(job.key));
}
