import { HeamsError, throwIfAny } from '../lib/errors.ts';
import type { ModelSettings } from '../schema/model-settings.ts';

const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
export const REDACTED = '<redacted>';

type Env = Readonly<Record<string, string | undefined>>;

/** A variable's value; nothing where it is empty. Spaces around it are dropped, as they are for keys. */
const variable = (env: Env, name: string): string | undefined => env[name]?.trim() || undefined;

/** One error for every variable that a header refers to and that is not set. */
export function missingHeaderVariables({ model_id, headers = {} }: ModelSettings, env: Env): HeamsError[] {
  return Object.entries(headers).flatMap(([header, value]) =>
    [...value.matchAll(reference)]
      .map((match) => match[1] as string)
      .filter((name) => variable(env, name) === undefined)
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
  const headers = Object.entries(settings.headers).map(([header, value]) => [
    header,
    value.replace(reference, (_match, name: string) => variable(env, name) ?? ''),
  ]);
  return { ...settings, headers: Object.fromEntries(headers) };
}

/** Whether a header's value holds references to the environment alone, but for the name of an auth scheme. */
function isReference(value: string): boolean {
  const rest = value.replace(reference, '').trim();
  return rest !== value.trim() && /^(bearer|basic|token|key|api-?key)?$/i.test(rest);
}

function withoutUserInfo(text: string): string {
  return text.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@\s]*@/i, `$1${REDACTED}@`);
}

/**
 * A config without what a reader of the results folder must not see: header values, but for references to the
 * environment, and credentials inside URLs.
 */
export function withoutSecrets(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return withoutUserInfo(value);
  if (Array.isArray(value)) return value.map((inner) => withoutSecrets(inner));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (key !== 'headers') return [name, withoutSecrets(inner, name)];
      return [name, isReference(String(inner)) ? inner : REDACTED];
    }),
  );
}
