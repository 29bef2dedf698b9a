import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadMemory } from '../config/load-memory.ts';
import { proveMemory } from '../config/prove-memory.ts';
import { builtinRegistry } from '../config/registry.ts';
import { HeamsError } from '../lib/errors.ts';
import { safeTerminal } from '../lib/escape.ts';
import { packageRoot } from '../lib/shipped.ts';
import { countText, plural } from '../report/format.ts';
import type { IsolationBleed, IsolationResult, OwnCanaries } from '../run/isolation-log.ts';
import { hostOf } from './host.ts';
import { watchInterrupts } from './interrupts.ts';
import { exit, type Io } from './io.ts';
import { textTable } from './table.ts';

export interface DoctorIsolationOptions {
  memory: string;
  scopes: number;
  concurrency: number;
  seed?: string;
  readyTimeoutS: number;
  memoryTimeoutS: number;
  maxCostUsd?: number;
  json?: boolean;
}

/**
 * The memory file that is meant: a path from here, or a name as in a run file, with or without its ending, here under
 * `configs/memory` or among those that HEAMS ships.
 */
export function memoryFile(name: string, cwd: string): string {
  const folders = [cwd, join(cwd, 'configs/memory'), packageRoot(), join(packageRoot(), 'configs/memory')];
  const files = folders.flatMap((folder) => [name, `${name}.yaml`].map((file) => resolve(folder, file)));
  const found = files.find((file) => file.endsWith('.yaml') && existsSync(file));
  if (found !== undefined) return found;
  throw new HeamsError(`there is no memory file "${name}"`, {
    code: 'config_not_found',
    expected: 'a path, or a name under configs/memory',
    found: name,
    hint: 'as in: heams doctor isolation --memory configs/memory/bm25.yaml',
  });
}

const codes: Record<IsolationResult['verdict'], number> = {
  isolated: exit.done,
  failed: exit.withFailures,
  bleeding: exit.gate,
  unproven: exit.unproven,
};

/** `heams doctor isolation`: whether a memory keeps its scopes apart. */
export async function doctorIsolation(options: DoctorIsolationOptions, io: Io): Promise<number> {
  const component = await loadMemory(memoryFile(options.memory, io.cwd), builtinRegistry);
  const host = hostOf(io);
  const { scopes, concurrency, readyTimeoutS, memoryTimeoutS, maxCostUsd } = options;
  const seed = options.seed ?? Math.floor(host.random() * 2 ** 32).toString(36);
  const interrupts = watchInterrupts(io);
  try {
    const { result, usage } = await proveMemory(component, {
      host,
      scopes,
      concurrency,
      seed,
      readyTimeoutS,
      memoryTimeoutS,
      ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
      signal: interrupts.signal,
    });
    const code = codes[result.verdict];
    if (options.json) io.out(JSON.stringify({ memory: component.name, ...result, usage, exit_code: code }));
    else for (const line of linesOf(component.name, result)) io.out(safeTerminal(line));
    return code;
  } finally {
    interrupts.release();
  }
}

const verdicts: Record<IsolationResult['verdict'], string> = {
  isolated: "Isolated: every scope showed its own canaries and nobody else's.",
  bleeding: 'Not isolated: scopes showed what is not their own. No result over this memory can be trusted.',
  failed: 'Not proven: calls failed, so not everything was looked at.',
  unproven: "Nothing proven: a memory that does not find its own canaries shows nobody else's either.",
};

const steps = { concurrent: 'open at once', resumed: 'opened again', disposed: 'after disposal' } as const;
const share = (of: number, all: number): string => (all === 0 ? '-' : `${of} of ${all}`);

function ownRow(step: keyof typeof steps, { searched, found, listable, listed }: OwnCanaries): string[] {
  return [steps[step], share(found, searched), share(listed, listable)];
}

function bleedLine({ step, scope, where, canary, count }: IsolationBleed): string {
  const whose =
    canary === undefined
      ? 'something, and must be empty'
      : canary.scope === scope
        ? 'what it held before'
        : `the canary of scope ${canary.scope}`;
  const times = count === 1 ? '' : `, ${count} times`;
  return `  scope ${scope}, ${steps[step]}: ${where === 'list' ? 'its list' : 'a search'} showed ${whose}${times}`;
}

const MOST_LINES = 20;

function linesOf(name: string, result: IsolationResult): string[] {
  const { scopes, open_at_once: atOnce, searches, own, bleeds, bled, failures, stores, seed } = result;
  const groups = atOnce < scopes ? `, ${atOnce} open at once` : ' open at once';
  return [
    `${name} (${result.backend}): ${plural(scopes, 'scope')}${groups}, ${countText(searches)} searches, seed ${seed}`,
    ...textTable([
      ['own canaries', 'found by search', 'in the list'],
      ownRow('concurrent', own.concurrent),
      ownRow('resumed', own.resumed),
    ]).map((line) => `  ${line}`),
    ...(bled > 0 ? [`Seen ${bled === 1 ? 'once' : `${bled} times`} where it must not be:`] : []),
    ...bleeds.slice(0, MOST_LINES).map(bleedLine),
    ...(bleeds.length > MOST_LINES ? [`  and ${bleeds.length - MOST_LINES} more, all of them with --json`] : []),
    ...failures.map(
      ({ step, stage, code, count, message }) =>
        `Failed ${count === 1 ? 'once' : `${count} times`} (${steps[step]}, ${stage}, ${code}): ${message}`,
    ),
    ...(stores ? [] : ['This memory keeps nothing, by design.']),
    verdicts[result.verdict],
  ];
}
