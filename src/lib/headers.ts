import type { Requirement } from '../contracts/plugin.ts';
import { type Env, envVariable, fillReferences, referencesIn } from './env-references.ts';
import { HeamsError } from './errors.ts';

/** The variables that a config's `headers` refer to; `whose` says what sends them: "an agent". */
export function headerRequirements(headers: Readonly<Record<string, string>>, whose: string): Requirement[] {
  return Object.entries(headers).flatMap(([header, value]) =>
    referencesIn(value).map((name) => ({
      kind: 'variable' as const,
      name,
      path: ['headers', header],
      role: `the header "${header}" of ${whose}`,
    })),
  );
}

/**
 * Headers with every `${NAME}` replaced by that environment variable.
 *
 * @throws HeamsError `missing_variable` for the first that is not set; no value is ever in it.
 */
export function filledHeaders(headers: Readonly<Record<string, string>>, env: Env): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([header, value]) => [header, filled(header, value, env)]));
}

function filled(header: string, value: string, env: Env): string {
  const missing = referencesIn(value).find((name) => envVariable(env, name) === undefined);
  if (missing === undefined) return fillReferences(value, env);
  throw new HeamsError(`the header "${header}" needs ${missing}`, {
    code: 'missing_variable',
    expected: `${missing} in the environment or in a .env file here`,
    found: 'nothing',
    hint: `set ${missing}`,
  });
}
