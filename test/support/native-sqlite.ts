/**
 * Whether `better-sqlite3`, which mem0 keeps its facts in, loads: it is compiled at install for one version of Node, and
 * another version refuses it. Tests of mem0 skip with a word where it does not.
 */
export const nativeSqlite: boolean = await import('better-sqlite3' as string)
  .then(({ default: Database }: { default: new (path: string) => { close(): void } }) => {
    new Database(':memory:').close();
    return true;
  })
  .catch(() => false);

/** The name of a suite, with the reason where it skips. */
export const namedMem0 = (name: string): string =>
  nativeSqlite ? name : `${name} (skipped: better-sqlite3 is not built for this version of Node)`;
