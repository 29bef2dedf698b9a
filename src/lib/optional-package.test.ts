import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { HeamsError } from './errors.ts';
import { installedVersion, isInstalled, loadPackage, notInstalled } from './optional-package.ts';

const absent = { name: 'no-such-package-of-heams', install: 'no-such-package-of-heams@1' };
const zod = { name: 'zod', install: 'zod' };
const codeOf = async (promise: Promise<unknown>) => (await promise.catch((error: HeamsError) => error)) as HeamsError;

describe('an optional package', () => {
  it.each([
    ['zod', true],
    ['zod/v4', true],
    ['@modelcontextprotocol/sdk', true],
    // Of programs alone, without a main file.
    ['@modelcontextprotocol/server-memory', true],
    ['node:fs', true],
    [absent.name, false],
  ])('%s is installed: %s', (name, there) => {
    expect(isInstalled({ name })).toBe(there);
  });

  it('has the version of its package.json, by whatever part of it is imported', () => {
    const { version } = JSON.parse(readFileSync('node_modules/zod/package.json', 'utf8')) as { version: string };
    expect(installedVersion({ name: 'zod' })).toBe(version);
    expect(installedVersion({ name: 'zod/v4' })).toBe(version);
    expect(installedVersion({ name: '@modelcontextprotocol/sdk/client/index.js' })).toMatch(/^\d+\.\d+\.\d+/);
    expect(installedVersion(absent)).toBeUndefined();
  });

  it('is said to be missing in one line, with the command that mends it', () => {
    expect(notInstalled(absent).describe()).toBe(
      [
        'the package no-such-package-of-heams is not installed',
        '  expected: no-such-package-of-heams, which HEAMS does not bring along',
        '  found:    nothing',
        '  next:     npm install no-such-package-of-heams@1',
      ].join('\n'),
    );
  });

  it('is loaded where it is there', async () => {
    expect((await loadPackage(zod, () => import('zod'))).z).toBeDefined();
  });

  it('is missing where it is not', async () => {
    const load = () => import(absent.name) as Promise<unknown>;
    expect(await codeOf(loadPackage(absent, load))).toMatchObject({ code: 'package_not_installed' });
  });

  it('is broken, and not missing, where it is there and lacks a part of its own or does not load', async () => {
    const lacking = await codeOf(loadPackage(zod, () => import(absent.name) as Promise<unknown>));
    expect(lacking).toMatchObject({ code: 'package_broken', hint: 'npm install zod' });
    expect(lacking.message).toContain('the package zod is installed and does not load: ');
    const native = () => Promise.reject(new Error('wrong ELF class'));
    expect(await codeOf(loadPackage(zod, native))).toMatchObject({
      code: 'package_broken',
      message: 'the package zod is installed and does not load: wrong ELF class',
    });
  });

  it("passes on HEAMS's own errors", async () => {
    const error = new HeamsError('another', { code: 'other' });
    await expect(loadPackage(zod, () => Promise.reject(error))).rejects.toBe(error);
  });
});
