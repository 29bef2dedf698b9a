import type { DoctorCheck } from '../config/doctor/check.ts';
import { loadRun } from '../config/load-run.ts';
import { builtinRegistry } from '../config/registry.ts';
import { HeamsError } from '../lib/errors.ts';
import { oneLine, safeTerminal } from '../lib/escape.ts';
import { plural } from '../report/format.ts';
import { configPath } from './config-path.ts';
import { hostOf } from './host.ts';
import { watchInterrupts } from './interrupts.ts';
import { exit, type Io } from './io.ts';
import { textTable } from './table.ts';

export interface DoctorOptions {
  offline?: boolean;
  json?: boolean;
}

/** `heams doctor <run>`: what each arm needs, whether it is there, and whether it answers. */
export async function doctor(file: string | undefined, options: DoctorOptions, io: Io): Promise<number> {
  if (file === undefined) {
    throw new HeamsError('heams doctor needs a run file, or a verb', {
      code: 'doctor_no_config',
      expected: 'heams doctor <run.yaml>, or heams doctor isolation --memory <memory.yaml>',
    });
  }
  const run = await loadRun(configPath(file, io.cwd), builtinRegistry);
  const interrupts = watchInterrupts(io);
  try {
    const { examine } = await import('../config/doctor/examine.ts');
    const offline = options.offline === true;
    const checks = await examine(run, { host: hostOf(io), offline, signal: interrupts.signal });
    const well = checks.every(({ state }) => state === 'ok' || state === 'skipped');
    const code = well ? exit.done : exit.badInput;
    if (options.json) {
      io.out(JSON.stringify({ version: 1, name: run.settings.name, ok: well, checks, exit_code: code }));
      return code;
    }
    const names = run.arms.map(({ name }) => name);
    for (const line of linesOf(checks, names)) io.out(safeTerminal(line));
    return code;
  } finally {
    interrupts.release();
  }
}

const MOST_ARMS = 2;

function armsText(arms: readonly string[], all: readonly string[]): string {
  if (arms.length === all.length) return all.length === 1 ? (all[0] as string) : 'all';
  const more = arms.length - MOST_ARMS;
  return [...arms.slice(0, MOST_ARMS), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

function linesOf(checks: readonly DoctorCheck[], arms: readonly string[]): string[] {
  const rows = checks.map((one) => [
    one.part,
    one.name,
    armsText(one.arms, arms),
    one.check,
    one.state,
    oneLine(one.detail),
  ]);
  const next = [...new Set(checks.flatMap(({ next: text }) => (text === undefined ? [] : [oneLine(text)])))];
  const count = (state: DoctorCheck['state']) => checks.filter((one) => one.state === state).length;
  const [missing, failed, skipped] = [count('missing'), count('failed'), count('skipped')];
  const verdict = missing + failed === 0 ? 'All is well.' : `${plural(missing, 'thing')} missing, ${failed} failed.`;
  return [
    ...textTable([['part', 'name', 'arms', 'check', 'state', 'detail'], ...rows]),
    '',
    ...next.map((text) => `next: ${text}`),
    `${verdict}${skipped === 0 ? '' : ` Skipped: ${skipped}.`}`,
  ];
}
