import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { HeamsError } from '../lib/errors.ts';
import { canonicalJson } from '../lib/hash.ts';
import { writeFileWhole } from '../lib/write-file.ts';
import type { Json } from '../schema/json.ts';
import type { WrittenNote } from '../schema/run-file.ts';
import { fingerprintOf, identityDiff, runIdentity } from './identity.ts';
import { loadRun, resolveFrom } from './load-run.ts';
import type { Registry } from './registry.ts';
import type { Arm, Component, Run } from './run.ts';
import { withoutSecrets } from './secrets.ts';

function inlined(component: Component): unknown {
  const { plugin, options, name } = component;
  const own = plugin.inlined ? plugin.inlined(options, resolveFrom(component)) : options;
  return withoutSecrets({ name, ...(own as object) });
}

/**
 * YAML that reads back as it was, to the letter. Some texts do not survive the form that is good to read (lines of
 * spaces alone at the start of a block, say); for those every text is written the way JSON writes it.
 */
function faithfulYaml(value: unknown): string {
  const options = { lineWidth: 0, aliasDuplicateObjects: false } as const;
  const readable = stringify(value, { ...options, blockQuote: 'literal' });
  if (readsBack(readable, value)) return readable;
  return stringify(value, {
    ...options,
    blockQuote: false,
    defaultStringType: 'QUOTE_DOUBLE',
    doubleQuotedAsJSON: true,
  });
}

function readsBack(text: string, value: unknown): boolean {
  try {
    return canonicalJson(parse(text)) === canonicalJson(value);
  } catch {
    return false;
  }
}

/** A run file with every component written out: enough to run again, and no secret in it. */
function asRunFile(run: Run, arms: readonly Arm[], note: WrittenNote): string {
  const {
    experiments: _e,
    matrix: _m,
    benchmark_config_file: _f,
    benchmark: _b,
    heams: _h,
    ...settings
  } = run.settings;
  const file = {
    ...settings,
    // The controls are among the arms now, and must not come twice.
    controls: false,
    benchmark: inlined(run.benchmark),
    experiments: arms.map(({ name, agent, memory, defence }) => ({
      name,
      agent: inlined(agent),
      memory: inlined(memory),
      ...(defence ? { defence: inlined(defence) } : {}),
    })),
    heams: note,
  };
  return faithfulYaml(file);
}

/** Writes `run_config.<run_id>.yaml`, and each experiment's own config beside its records. */
export async function writeRunConfigs(
  run: Run,
  experiments: readonly string[],
  note: WrittenNote,
  folder: { dir: string; experimentDir(experiment: string): string },
): Promise<void> {
  await writeFileWhole(join(folder.dir, `run_config.${note.run_id}.yaml`), asRunFile(run, run.arms, note));
  for (const arm of run.arms.filter((one) => experiments.includes(one.name))) {
    await mkdir(folder.experimentDir(arm.name), { recursive: true });
    const file = join(folder.experimentDir(arm.name), `experiment_config.${note.run_id}.yaml`);
    await writeFileWhole(file, asRunFile(run, [arm], note));
  }
}

/** The run config that an earlier run left in a folder; the newest where there are several. */
export async function previousConfig(dir: string): Promise<string | undefined> {
  const entries = await readdir(dir, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && /^run_config\..+\.yaml$/.test(entry.name));
  const newest = files
    .map((entry) => entry.name)
    .sort()
    .at(-1);
  return newest === undefined ? undefined : join(dir, newest);
}

/**
 * The note of the run that a folder holds, when this run may go on with it; nothing in a fresh folder. Another run's
 * folder is refused with what differs, since records of two configurations under one name would be neither's.
 */
export async function resumableNote(
  dir: string,
  run: Run,
  source: { [key: string]: Json },
  registry: Registry,
): Promise<WrittenNote | undefined> {
  const file = await previousConfig(dir);
  if (file === undefined) return undefined;
  const before = await loadRun(file, registry);
  const note = before.settings.heams;
  const now = runIdentity(run, source);
  if (note && note.fingerprint === fingerprintOf(now)) return note;
  const changes = identityDiff(runIdentity(before, note?.dataset ?? {}), now);
  throw new HeamsError('this folder holds a run of another configuration', {
    code: 'resume_other_config',
    where: { file },
    expected: 'the configuration that the folder was started with',
    found: changes.length > 0 ? `\n    ${changes.join('\n    ')}` : 'another fingerprint',
    hint: 'choose another --output-dir, or undo the change',
  });
}
