const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

export type Env = Readonly<Record<string, string | undefined>>;

/** A variable's value; nothing where it is empty. Spaces around it are dropped, as they are for keys. */
export const envVariable = (env: Env, name: string): string | undefined =>
  // A name such as `constructor` is no variable for being a property of every object.
  Object.hasOwn(env, name) ? env[name]?.trim() || undefined : undefined;

/** Names of the variables that a text refers to as `${NAME}`, each once. */
export function referencesIn(text: string): string[] {
  return [...new Set([...text.matchAll(reference)].map((match) => match[1] as string))];
}

/** The text with every `${NAME}` replaced by that variable; by nothing where it is not set. */
export function fillReferences(text: string, env: Env): string {
  return text.replace(reference, (_match, name: string) => envVariable(env, name) ?? '');
}

/** The text with its references taken out. */
export const withoutReferences = (text: string): string => text.replace(reference, '');
