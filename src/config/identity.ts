import { canonicalJson, hashOf } from '../lib/hash.ts';
import type { Json } from '../schema/json.ts';
import { outcomeShaping } from '../schema/model-settings.ts';
import type { Component, Run } from './run.ts';
import { withoutSecrets } from './secrets.ts';

/** What of a component can change an outcome, as plain JSON. It is shown to users when it changes, so no secret is in it. */
export function componentIdentity({ plugin, options }: Component): { [key: string]: Json } {
  const shaping = plugin.identity ? plugin.identity(options) : outcomeShaping(options as Record<string, unknown>);
  return JSON.parse(canonicalJson(withoutSecrets({ plugin: plugin.name, ...(shaping as object) })));
}

/** What of a dataset's description can change an outcome: its content, not where it is kept. */
function datasetIdentity(source: { [key: string]: Json }): { [key: string]: Json } {
  const { sha256, revision } = source;
  return { ...(sha256 === undefined ? {} : { sha256 }), ...(revision === undefined ? {} : { revision }) };
}

/**
 * Everything that can change a run's outcomes, and the names that its records carry. How much runs at once, budgets and
 * limits on the number of samples are left out: with them changed, a folder can still be resumed.
 */
export function runIdentity(run: Run, source: { [key: string]: Json }): { [key: string]: Json } {
  return {
    benchmark: componentIdentity(run.benchmark),
    dataset: datasetIdentity(source),
    seed: run.settings.seed,
    repeats: run.settings.repeats,
    experiments: Object.fromEntries(
      run.arms.map(({ name, agent, memory, defence }) => [
        name,
        {
          agent: { name: agent.name, ...componentIdentity(agent) },
          memory: { name: memory.name, ...componentIdentity(memory) },
          ...(defence ? { defence: { name: defence.name, ...componentIdentity(defence) } } : {}),
        },
      ]),
    ),
  };
}

export const fingerprintOf = (identity: { [key: string]: Json }): string => hashOf(identity).slice(0, 16);

function flatten(value: Json, path: string, into: Map<string, string>): Map<string, string> {
  if (value !== null && typeof value === 'object' && Object.keys(value).length > 0) {
    for (const [key, inner] of Object.entries(value)) flatten(inner, path ? `${path}.${key}` : key, into);
  } else into.set(path, JSON.stringify(value));
  return into;
}

const WIDTH = 100;
const LEAD = 20;

/** A value as one short line; a long one starts a little before `from`, where it begins to differ. */
function short(text: string | undefined, from: number): string {
  if (text === undefined) return '(absent)';
  if (text.length <= WIDTH) return text;
  const start = from + LEAD < WIDTH ? 0 : from - LEAD;
  const end = Math.min(text.length, start + WIDTH);
  return `${start > 0 ? '...' : ''}${text.slice(start, end)}${end < text.length ? '...' : ''}`;
}

function firstDifference(a: string, b: string): number {
  let i = 0;
  while (i < a.length && a[i] === b[i]) i++;
  return i;
}

function changeAt(path: string, before: string | undefined, now: string | undefined): string {
  const from = firstDifference(before ?? '', now ?? '');
  return `${path}: ${short(before, from)} -> ${short(now, from)}`;
}

/** What differs between two identities, a line each: `path: before -> now`. */
export function identityDiff(before: Json, now: Json): string[] {
  const [old, fresh] = [flatten(before, '', new Map()), flatten(now, '', new Map())];
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .filter((path) => old.get(path) !== fresh.get(path))
    .sort()
    .map((path) => changeAt(path, old.get(path), fresh.get(path)));
}
