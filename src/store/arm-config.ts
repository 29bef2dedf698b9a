import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type Json, json as jsonSchema } from '../schema/json.ts';

/**
 * The config that a run wrote beside an arm's records (`experiment_config.<run_id>.yaml`), as data; the newest where
 * there are several. Nothing where there is none, or none that can be read: it describes records and is no part of them.
 */
export async function readArmConfig(dir: string): Promise<Json | undefined> {
  try {
    const names = await readdir(dir);
    const newest = names
      .filter((name) => /^experiment_config\..+\.yaml$/.test(name))
      .sort()
      .at(-1);
    if (newest === undefined) return undefined;
    return jsonSchema.parse(parse(await readFile(join(dir, newest), 'utf8')));
  } catch {
    return undefined;
  }
}
