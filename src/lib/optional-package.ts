import { createRequire } from 'node:module';
import { HeamsError } from './errors.ts';

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
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch (error) {
    // A package for `import` alone refuses `require`, and is there.
    return codeOf(error) === 'ERR_PACKAGE_PATH_NOT_EXPORTED';
  }
}

/**
 * Loads a package that may not be there: `loadPackage(spec, () => import('pg'))`.
 *
 * @throws HeamsError `package_not_installed` with the install command.
 */
export async function loadPackage<T>(spec: OptionalPackage, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const missing = codeOf(error) === 'ERR_MODULE_NOT_FOUND' || codeOf(error) === 'MODULE_NOT_FOUND';
    if (missing && !isInstalled(spec)) throw notInstalled(spec, error);
    throw error;
  }
}
