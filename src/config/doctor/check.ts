import type { HeamsError } from '../../lib/errors.ts';
import type { Component, Run } from '../run.ts';

/** `skipped`: not looked at, since something that it needs is missing or because of `--offline`. */
export type DoctorState = 'ok' | 'missing' | 'failed' | 'skipped';

/** One thing that a part of a run needs or does, and how it is. */
export interface DoctorCheck {
  part: 'benchmark' | 'agent' | 'memory' | 'defence';
  /** Name of the component. */
  name: string;
  /** Names of the arms that have it; all of them for the benchmark. */
  arms: string[];
  /** What is looked at: `package pg`, `variable ZEP_API_KEY`, `write and recall`, ... */
  check: string;
  state: DoctorState;
  detail: string;
  /** What to do about it. */
  next?: string;
}

export type Finding = Omit<DoctorCheck, 'part' | 'name' | 'arms'>;

export const ok = (check: string, detail: string): Finding => ({ check, state: 'ok', detail });
export const skipped = (check: string, detail: string): Finding => ({ check, state: 'skipped', detail });

/** What an error says. `missing` where something is not there that can be had. */
export function problem(check: string, error: HeamsError, state: 'missing' | 'failed'): Finding {
  const { message, hint } = error;
  return { check, state, detail: message, ...(hint === undefined ? {} : { next: hint }) };
}

export interface DoctorPart<C extends Component = Component> {
  part: DoctorCheck['part'];
  component: C;
  arms: string[];
}

/** Every component once, with the arms that have it, in the order of a run file. */
export function partsOf({ benchmark, arms }: Pick<Run, 'benchmark' | 'arms'>): DoctorPart[] {
  const parts = new Map<Component, DoctorPart>();
  const add = (part: DoctorCheck['part'], component: Component | undefined, arm: string) => {
    if (component === undefined) return;
    const known = parts.get(component) ?? { part, component, arms: [] };
    known.arms.push(arm);
    parts.set(component, known);
  };
  for (const { name } of arms) add('benchmark', benchmark, name);
  for (const { name, agent } of arms) add('agent', agent, name);
  for (const { name, memory } of arms) add('memory', memory, name);
  for (const { name, defence } of arms) add('defence', defence, name);
  return [...parts.values()];
}
