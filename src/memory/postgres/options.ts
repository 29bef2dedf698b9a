import { z } from 'zod';
import type { Requirement } from '../../contracts/plugin.ts';
import { referencesIn, withoutReferences } from '../../lib/env-references.ts';
import { outcomeShaping } from '../../schema/model-settings.ts';

/** A name in the database. It is quoted wherever it is used, so capital letters count. */
const identifier = (most: number) =>
  z.string().regex(new RegExp(`^[A-Za-z_][A-Za-z0-9_]{0,${most - 1}}$`), `letters, digits and _, at most ${most}`);

/** How to reach a PostgreSQL server, and where in it the facts are kept. */
export const postgresShape = {
  /** `postgresql://user:${NAME}@host:5432/database`: each `${NAME}` is an environment variable. */
  url: z.string().optional(),
  /** Name of the environment variable that holds the whole address. */
  url_env: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable, not the address itself')
    .optional(),
  /** Made where it is not there; the first on the server's search path where absent. */
  schema: identifier(63).optional(),
  /** Made where it is not there. An index is named after it, so it has less room than other names. */
  table: identifier(48).optional(),
  /** Connections that are open at once. */
  pool_size: z.int().positive().max(100).default(8),
  /** How long to wait for a connection, in seconds. */
  connect_timeout_s: z.number().positive().max(300).default(15),
} as const;

const postgresOptionsSchema = z.object(postgresShape);
export type PostgresOptions = z.infer<typeof postgresOptionsSchema>;

export const PG = { name: 'pg', install: 'pg@8' } as const;

const example = `postgresql://user:\${PGPASSWORD}@127.0.0.1:5432/database`;

/** The parts of an address that hold no secret: user info and what may stand there, and the rest. */
function parts(url: string): { user: string; place: string; query: string } | undefined {
  const match = /^postgres(?:ql)?:\/\/(?:([^/@?]*)@)?([^?]*)(?:\?(.*))?$/.exec(url);
  return match ? { user: match[1] ?? '', place: match[2] as string, query: match[3] ?? '' } : undefined;
}

function problemOf(url: string): string | undefined {
  const found = parts(url);
  if (!found) return `an address like ${example}; a whole address in the environment goes by url_env`;
  const { user, place, query } = found;
  const colon = user.indexOf(':');
  const inUser = colon >= 0 && withoutReferences(user.slice(colon + 1)) !== '';
  if (inUser || /(^|&)(ssl)?password=/i.test(query)) {
    return `the password stands in the environment, not in this file: ${example}`;
  }
  if (/^(\/|:|$)/.test(place) && !/(^|&)host=[^&]/.test(query)) return `an address that names a host: ${example}`;
  return undefined;
}

/** Exactly one address, and no password in it. */
export function needsAddress({ url, url_env: urlEnv }: PostgresOptions, context: z.core.$RefinementCtx): void {
  if ((url === undefined) === (urlEnv === undefined)) {
    const message = `one of url and url_env: where the server is, or the variable that says so; ${example}`;
    context.addIssue({ code: 'custom', path: [url === undefined ? 'url' : 'url_env'], message });
    return;
  }
  const message = url === undefined ? undefined : problemOf(url);
  if (message !== undefined) context.addIssue({ code: 'custom', path: ['url'], message });
}

/** The address as it may be shown: no user, no password, and no value of a variable. */
export function shownAddress({ url, url_env: urlEnv }: PostgresOptions): string {
  return url === undefined ? `the address in ${urlEnv}` : (parts(url)?.place ?? 'the address');
}

/** The client, the variables that the address is made of, and the server. */
export function postgresRequirements(options: PostgresOptions): Requirement[] {
  const { url = '', url_env: urlEnv } = options;
  const role = 'the address of the PostgreSQL server';
  const variable = (name: string, key: string): Requirement => ({ kind: 'variable', name, path: [key], role });
  return [
    { kind: 'package', ...PG },
    ...referencesIn(url).map((name) => variable(name, 'url')),
    ...(urlEnv === undefined ? [] : [variable(urlEnv, 'url_env')]),
    ...(url === '' ? [] : [{ kind: 'server', url: `postgresql://${shownAddress(options)}`, path: ['url'] } as const]),
  ];
}

/** Where facts are kept changes no answer. */
export function withoutPlace(options: PostgresOptions & Record<string, unknown>): Record<string, unknown> {
  const place = Object.keys(postgresShape);
  return Object.fromEntries(Object.entries(outcomeShaping(options)).filter(([key]) => !place.includes(key)));
}
