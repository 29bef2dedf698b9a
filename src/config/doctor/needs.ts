import { dirname, resolve } from 'node:path';
import type { Requirement } from '../../contracts/plugin.ts';
import { type Env, envVariable, fillReferences } from '../../lib/env-references.ts';
import { HeamsError } from '../../lib/errors.ts';
import { findProgram } from '../../lib/find-program.ts';
import { installedVersion, isInstalled, notInstalled } from '../../lib/optional-package.ts';
import { isLoopback, placeOf, reachServer } from '../../lib/reach-server.ts';
import type { Host } from '../assemble.ts';
import { requirementProblem } from '../check-requirements.ts';
import type { Component } from '../run.ts';
import { withoutSecrets } from '../secrets.ts';
import { type Finding, ok, problem, skipped } from './check.ts';

export interface LookOptions {
  host: Host;
  /** Nothing leaves the machine, and nothing costs money. */
  offline: boolean;
  signal: AbortSignal;
}

const CONNECT_TIMEOUT_S = 10;

/** Whether what a component needs is there: packages, variables, programs, and servers that listen. */
export async function needsOf(component: Component, options: LookOptions): Promise<Finding[]> {
  const requirements = component.plugin.requires?.(component.options) ?? [];
  return Promise.all(requirements.map((one) => need(component, one, options)));
}

async function need(component: Component, requirement: Requirement, options: LookOptions): Promise<Finding> {
  const { env } = options.host;
  if (requirement.kind === 'package') {
    const check = `package ${requirement.name}`;
    if (!isInstalled(requirement)) return problem(check, notInstalled(requirement), 'missing');
    return ok(check, `installed${versionOf(requirement.name)}`);
  }
  if (requirement.kind === 'variable') {
    const missing = requirementProblem(component, requirement, env);
    const check = `variable ${requirement.name}`;
    return missing ? problem(check, missing, 'missing') : ok(check, 'set');
  }
  if (requirement.kind === 'program') return program(component, requirement.name, env);
  return server(requirement.url, options);
}

function versionOf(name: string): string {
  const version = installedVersion({ name });
  return version === undefined ? '' : `, version ${version}`;
}

async function program(component: Component, name: string, env: Env): Promise<Finding> {
  const { cwd } = component.options as { cwd?: unknown };
  const from = resolve(dirname(component.file), typeof cwd === 'string' ? cwd : '.');
  const file = await findProgram(name, {
    path: env.PATH ?? '',
    cwd: from,
    endings: (env.PATHEXT ?? '').split(';').filter(Boolean),
  });
  const check = `program ${name}`;
  if (file !== undefined) return ok(check, file);
  const error = new HeamsError(`there is no program "${name}"`, {
    code: 'program_missing',
    hint: `install ${name}, or mend its path in ${component.file}`,
  });
  return problem(check, error, 'missing');
}

async function server(url: string, { host, offline, signal }: LookOptions): Promise<Finding> {
  const check = `server ${String(withoutSecrets(url))}`;
  const address = fillReferences(url, host.env);
  const place = placeOf(address);
  if (!place) return skipped(check, 'its address names no host and port; the live check tells');
  if (offline && !isLoopback(address)) return skipped(check, '--offline');
  const deadline = new AbortController();
  const late = host.clock
    .sleep(CONNECT_TIMEOUT_S * 1000, deadline.signal)
    .then(() => deadline.abort(new Error(`no answer within ${CONNECT_TIMEOUT_S} s`)))
    .catch(() => undefined);
  try {
    await reachServer(place, AbortSignal.any([signal, deadline.signal]));
    return ok(check, 'somebody listens');
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HeamsError) return problem(check, error, 'failed');
    throw error;
  } finally {
    deadline.abort(new Error('done'));
    await late;
  }
}

/** Every variable that holds a key or an address with one, so that no output shows it. */
export function secretsOf(component: Component, env: Env): (string | undefined)[] {
  const named = (component.plugin.requires?.(component.options) ?? []).flatMap((one) =>
    one.kind === 'variable' ? [envVariable(env, one.name)] : [],
  );
  return named.flatMap((value) => [value, passwordOf(value)]);
}

function passwordOf(address = ''): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { password } = new URL(address);
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}
