import type { Stage, StageUsage } from '../schema/usage.ts';

/** Adds up what the calls of one sample spend, by stage. */
export interface Meter {
  add(stage: Stage, spent: Partial<StageUsage>): void;
}

/** What travels with every call that is made for one sample: who pays, when to give up, and what sets it apart. */
export interface CallContext {
  readonly signal: AbortSignal;
  readonly stage: Stage;
  readonly meter: Meter;
  /** Sample id and repeat (`saltOf`): part of every cache key, so that repeats are real repeats. */
  readonly salt: string;
  /** The job's key: what is kept for a job that is under way is found again by it. */
  readonly job: string;
}

/** The `salt` of a sample's calls; also what names the sample and repeat where something recorded is looked up. */
export const saltOf = (sampleId: string, repeat: number): string => `${sampleId}#${repeat}`;

/** Time, randomness and waiting come in from outside, so that a test can hold them still. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that never run backwards, for durations. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
