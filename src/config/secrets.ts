import { type Env, envVariable, fillReferences, referencesIn, withoutReferences } from '../lib/env-references.ts';
import { HeamsError, throwIfAny } from '../lib/errors.ts';
import type { ModelSettings } from '../schema/model-settings.ts';

export const REDACTED = '<redacted>';

/** One error for every variable that a header refers to and that is not set. */
export function missingHeaderVariables({ model_id, headers = {} }: ModelSettings, env: Env): HeamsError[] {
  return Object.entries(headers).flatMap(([header, value]) =>
    referencesIn(value)
      .filter((name) => envVariable(env, name) === undefined)
      .map(
        (name) =>
          new HeamsError(`the header "${header}" of ${model_id} needs ${name}`, {
            code: 'missing_header_variable',
            expected: `${name} in the environment or in a .env file here`,
            found: 'nothing',
            hint: `set ${name}`,
          }),
      ),
  );
}

/**
 * Headers with `${NAME}` replaced by that environment variable, so that a key need not stand in a config file.
 *
 * @throws HeamsError for variables that are not set; no value is ever in it.
 */
export function withHeaderSecrets(settings: ModelSettings, env: Env): ModelSettings {
  if (!settings.headers) return settings;
  throwIfAny(missingHeaderVariables(settings, env));
  const headers = Object.entries(settings.headers).map(([header, value]) => [header, fillReferences(value, env)]);
  return { ...settings, headers: Object.fromEntries(headers) };
}

/** Whether a header's value holds references to the environment alone, but for the name of an auth scheme. */
function isReference(value: string): boolean {
  const rest = withoutReferences(value).trim();
  return rest !== value.trim() && /^(bearer|basic|token|key|api-?key)?$/i.test(rest);
}

/** A parameter of a URL whose value opens something, by the end of its name: `api_key`, `accessToken`. */
const credential = /([?&][\w.-]*(?:key|token|secret|password|passwd|pwd|sig|signature|auth)=)([^&#\s]*)/gi;

const refersOnly = (text: string): boolean => text !== '' && withoutReferences(text) === '';

/**
 * Credentials in a URL are struck out, but for those that only refer to the environment. The user info goes on to the
 * last @ before the path: a password that holds one, as it should not, is struck out whole.
 */
function withoutCredentials(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  return text
    .replace(/^([^/]+:\/\/)([^/\s]*)@/, (whole, scheme: string, user: string) => {
      const password = user.includes(':') ? user.slice(user.indexOf(':') + 1) : user;
      return refersOnly(password) ? whole : `${scheme}${REDACTED}@`;
    })
    .replace(credential, (whole, name: string, value: string) =>
      value === '' || refersOnly(value) ? whole : `${name}${REDACTED}`,
    );
}

/** The name of a variable whose value opens something. */
const opens = /(key|token|secret|password|passwd|pwd|credentials?)$/i;

/** An option of a program whose value opens something: `--api-key=...`, or `--token` with its value after it. */
const opening = /^(--?[\w-]*(?:key|token|secret|password|passwd|pwd|credentials?))(?:=(.*))?$/is;

/** Arguments of a program without the secrets that they hold in plain text. */
function withoutOpening(args: readonly unknown[]): unknown[] {
  return args.map((arg, i) => {
    if (typeof arg !== 'string') return withoutSecrets(arg);
    const [, option, value = ''] = opening.exec(arg) ?? [];
    if (option !== undefined) return value === '' || refersOnly(value) ? arg : `${option}=${REDACTED}`;
    const before = opening.exec(String(args[i - 1] ?? ''));
    const isValue = before !== null && before[2] === undefined && !arg.startsWith('-');
    return isValue && !refersOnly(arg) ? REDACTED : withoutSecrets(arg);
  });
}

/**
 * A config without what a reader of the results folder must not see: header values and a program's keys, but for
 * references to the environment, and credentials inside URLs.
 */
export function withoutSecrets(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return withoutCredentials(value);
  if (Array.isArray(value) && key === 'args') return withoutOpening(value);
  if (Array.isArray(value)) return value.map((inner) => withoutSecrets(inner));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (key === 'headers') return [name, isReference(String(inner)) ? inner : REDACTED];
      if (key === 'env' && typeof inner === 'string' && opens.test(name) && !isReference(inner))
        return [name, REDACTED];
      return [name, withoutSecrets(inner, name)];
    }),
  );
}
