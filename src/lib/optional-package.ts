import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { HeamsError, messageOf } from './errors.ts';

/** An npm package that is not installed with HEAMS: its name as it is imported, and what `npm install` is told. */
export interface OptionalPackage {
  name: string;
  install: string;
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

/** One line that says what is missing and the command that mends it. */
export function notInstalled({ name, install }: OptionalPackage, cause?: unknown): HeamsError {
  return new HeamsError(`the package ${name} is not installed`, {
    code: 'package_not_installed',
    expected: `${name}, which HEAMS does not bring along`,
    found: 'nothing',
    hint: `npm install ${install}`,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Whether a package can be imported from here, without loading it. */
export function isInstalled({ name }: Pick<OptionalPackage, 'name'>): boolean {
  const require = createRequire(import.meta.url);
  try {
    require.resolve(name);
    return true;
  } catch (error) {
    // A package for `import` alone refuses `require`, and is there; so is one of parts or programs without a main file.
    if (codeOf(error) === 'ERR_PACKAGE_PATH_NOT_EXPORTED') return true;
    return (require.resolve.paths(name) ?? []).some((folder) => existsSync(join(folder, name, 'package.json')));
  }
}

/** The version of an installed package, read from its own package.json; nothing where that cannot be read. */
export function installedVersion({ name }: Pick<OptionalPackage, 'name'>): string | undefined {
  const [first = '', second = ''] = name.split('/');
  const whole = first.startsWith('@') ? `${first}/${second}` : first;
  for (const folder of createRequire(import.meta.url).resolve.paths(whole) ?? []) {
    try {
      const read = JSON.parse(readFileSync(join(folder, whole, 'package.json'), 'utf8')) as { version?: unknown };
      const { version } = read;
      return typeof version === 'string' ? version : undefined;
    } catch {}
  }
  return undefined;
}

/**
 * Loads a package that may not be there: `loadPackage(spec, () => import('pg'))`.
 *
 * @throws HeamsError `package_not_installed` with the install command, or `package_broken` where it is there and does
 * not load, as one does whose native part was built for another machine.
 */
export async function loadPackage<T>(spec: OptionalPackage, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const missing = codeOf(error) === 'ERR_MODULE_NOT_FOUND' || codeOf(error) === 'MODULE_NOT_FOUND';
    if (missing && !isInstalled(spec)) throw notInstalled(spec, error);
    if (error instanceof HeamsError) throw error;
    throw new HeamsError(`the package ${spec.name} is installed and does not load: ${messageOf(error)}`, {
      code: 'package_broken',
      hint: `npm install ${spec.install}`,
      cause: error,
    });
  }
}
