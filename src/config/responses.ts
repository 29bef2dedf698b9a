import type { Benchmark, Sample } from '../contracts/benchmark.ts';
import type { BenchmarkPlugin } from '../contracts/plugin.ts';
import { HeamsError, throwIfAny } from '../lib/errors.ts';
import { nearest } from '../lib/nearest.ts';
import { runFileSchema } from '../schema/run-file.ts';
import { openResponses, type ResponseEntry } from '../store/response-file.ts';
import { composedSettings, type Pace, recordedArm, wrapped } from './recorded-run.ts';
import type { Registry } from './registry.ts';
import type { Component, Run } from './run.ts';

export interface ResponsesRunInput extends Pace {
  /** One response a line (`responseLineSchema`). */
  file: string;
  benchmark: Component<BenchmarkPlugin>;
  /** Name of the arm, for lines that name none. */
  name: string;
  /** Let samples without a response be failed samples, instead of an error before anything starts. */
  allowMissing: boolean;
  limit?: number;
  registry: Registry;
  signal: AbortSignal;
}

/** More names than this at once help nobody. */
const LISTED = 5;

/**
 * A run over the messages of another system: one arm for each experiment that the file names. Every sample of the
 * benchmark is asked for, in every arm and repeat.
 *
 * @throws HeamsError for what is wrong with the file; what does not fit the samples is found when they are loaded:
 * `responses_unknown_sample`, `responses_incomplete`.
 */
export async function responsesRun(input: ResponsesRunInput): Promise<Run> {
  const { file, benchmark, registry, signal } = input;
  const { entries, sha256 } = await openResponses(file, signal);
  const named = [...new Set(entries.map(({ experiment }) => experiment))];
  const names = named.map((experiment) => experiment ?? input.name);
  throwIfAny([...badNames(names, file), ...clash(named, input.name, file)]);
  const arms = named.map((experiment) =>
    recordedArm(
      {
        name: experiment ?? input.name,
        file,
        agent: {
          name: experiment ?? input.name,
          responses: file,
          sha256,
          ...(experiment === undefined ? {} : { experiment }),
        },
        memory: { name: 'external' },
      },
      registry,
    ),
  );
  const repeats = 1 + entries.reduce((most, { repeat }) => Math.max(most, repeat), 0);
  return {
    file,
    settings: composedSettings(input.name, { seed: 0, repeats }, input),
    benchmark: wrapped(benchmark, (made) => checked(made, { ...input, entries, arms: named, repeats })),
    arms: await Promise.all(arms),
  };
}

function badNames(names: readonly string[], file: string): HeamsError[] {
  return names.flatMap((name) => {
    const problem = runFileSchema.shape.name.safeParse(name).error?.issues[0];
    if (!problem) return [];
    const options = { code: 'responses_bad_name', where: { file }, expected: problem.message, found: name };
    return [new HeamsError(`"${name}" cannot be the name of an experiment`, options)];
  });
}

/** Two experiments in one folder: equal but for case, or unnamed lines under a name that others have. */
function clash(named: readonly (string | undefined)[], name: string, file: string): HeamsError[] {
  const folded = named.map((experiment) => (experiment ?? name).toLowerCase());
  const twice = folded.find((one, i) => folded.indexOf(one) !== i);
  if (twice === undefined) return [];
  return [
    new HeamsError(`two experiments of this file would be called "${twice}"`, {
      code: 'responses_name_clash',
      where: { file },
      expected: 'a name of its own for every experiment',
      found: named.map((experiment) => experiment ?? '(no name)').join(', '),
      hint: 'name the lines without "experiment" with --name',
    }),
  ];
}

interface Check extends ResponsesRunInput {
  entries: readonly ResponseEntry[];
  arms: readonly (string | undefined)[];
  repeats: number;
}

/** The benchmark that, with its samples at hand, says which responses are for no sample and which samples have none. */
function checked(benchmark: Benchmark, check: Check): Benchmark {
  return {
    ...benchmark,
    loadSamples: async (signal) => {
      const loaded = await benchmark.loadSamples(signal);
      throwIfAny(unknownSamples(loaded.samples, check));
      const samples = loaded.samples.slice(0, check.limit);
      if (!check.allowMissing) throwIfAny(missingResponses(samples, check));
      return { ...loaded, samples };
    },
  };
}

function unknownSamples(samples: readonly Sample[], { entries, file }: Check): HeamsError[] {
  const ids = new Set(samples.map(({ id }) => id));
  const unknown = entries.filter(({ sampleId }) => !ids.has(sampleId));
  const more = unknown.length > LISTED ? `; ${unknown.length - LISTED} more lines have the same problem` : '';
  return unknown.slice(0, LISTED).map(({ sampleId, line }) => {
    const meant = nearest(sampleId, ids);
    return new HeamsError(`there is no sample "${sampleId}" in this benchmark`, {
      code: 'responses_unknown_sample',
      where: { file, line, column: 1 },
      expected: `the id of one of its ${samples.length} samples`,
      found: `"${sampleId}"${more}`,
      hint: meant ? `did you mean "${meant}"?` : 'check the benchmark file, and the limit of its dataset',
    });
  });
}

function missingResponses(samples: readonly Sample[], { entries, arms, repeats, file, name }: Check): HeamsError[] {
  const keyOf = (experiment: string | undefined, id: string, repeat: number) =>
    JSON.stringify([experiment ?? null, id, repeat]);
  const given = new Set(entries.map(({ experiment, sampleId, repeat }) => keyOf(experiment, sampleId, repeat)));
  const missing: string[] = [];
  let count = 0;
  for (const experiment of arms) {
    for (let repeat = 0; repeat < repeats; repeat++) {
      for (const { id } of samples) {
        if (given.has(keyOf(experiment, id, repeat))) continue;
        count += 1;
        if (missing.length < LISTED) missing.push(`${id} (${experiment ?? name}, repeat ${repeat})`);
      }
    }
  }
  if (count === 0) return [];
  return [
    new HeamsError(`${count} of ${samples.length * repeats * arms.length} responses are missing`, {
      code: 'responses_incomplete',
      where: { file },
      expected: 'a response for every sample of the benchmark, in every experiment and repeat',
      found: `none for ${missing.join(', ')}${count > missing.length ? ', ...' : ''}`,
      hint: 'add them, take fewer samples with --limit, or count them as failed samples with --allow-missing',
    }),
  ];
}
