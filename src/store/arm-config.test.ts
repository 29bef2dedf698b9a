import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readArmConfig } from './arm-config.ts';

describe('readArmConfig', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'heams-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));
  const put = (name: string, text: string) => writeFile(join(dir, name), text);

  it('reads the newest config beside the records', async () => {
    await put('experiment_config.20250101T000000000Z-aa.yaml', 'seed: 1\n');
    await put('experiment_config.20250201T000000000Z-aa.yaml', 'seed: 2\nexperiments: [{ name: arm }]\n');
    await put('other.yaml', 'seed: 3\n');
    expect(await readArmConfig(dir)).toEqual({ seed: 2, experiments: [{ name: 'arm' }] });
  });

  it('knows nothing where there is none, or none that can be read', async () => {
    expect(await readArmConfig(dir)).toBeUndefined();
    expect(await readArmConfig(join(dir, 'nowhere'))).toBeUndefined();
    await put('experiment_config.a.yaml', '{ not: [closed');
    expect(await readArmConfig(dir)).toBeUndefined();
    await put('experiment_config.b.yaml', 'x: .nan\n');
    expect(await readArmConfig(dir)).toBeUndefined();
    await mkdir(join(dir, 'experiment_config.c.yaml'));
    expect(await readArmConfig(dir)).toBeUndefined();
  });
});
