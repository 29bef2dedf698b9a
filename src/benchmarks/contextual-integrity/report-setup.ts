import { z } from 'zod';
import { code, type Rich } from '../../report/document.ts';
import { countText } from '../../report/format.ts';
import type { Json } from '../../schema/json.ts';

const text = z.string().optional().catch(undefined);
const number = z.number().optional().catch(undefined);

/** What of an arm's written config a reader wants to know; whatever is not as it should be is not known. */
const configSchema = z.looseObject({
  seed: number,
  repeats: number,
  benchmark: z
    .looseObject({
      haystack: number,
      sessions: number,
      evaluator: z
        .looseObject({
          type: text,
          judge_model_id: text,
          extra_judges: z.array(z.looseObject({ judge_model_id: z.string() })).catch([]),
        })
        .optional()
        .catch(undefined),
    })
    .optional()
    .catch(undefined),
  experiments: z.tuple([
    z.looseObject({
      agent: z.looseObject({ kind: text, model_id: text, memory_strategy: text }),
      memory: z.looseObject({ backend: text, top_k: number }),
      defence: z.looseObject({ model_id: text }).optional(),
    }),
  ]),
  heams: z
    .looseObject({
      dataset: z.looseObject({
        repository: text,
        revision: text,
        file: text,
        name: text,
        rows: number,
        samples: number,
        sha256: text,
      }),
    })
    .optional()
    .catch(undefined),
});
type ArmConfig = z.infer<typeof configSchema>;

const UNKNOWN = 'unknown: there is no config of this arm beside its records, or it cannot be read';

const orNone = (value: string | number | undefined, none: string): Rich =>
  value === undefined ? none : code(`${value}`);

function datasetText({ heams }: ArmConfig): Rich {
  if (!heams) return 'unknown';
  const { repository, revision, file, name, rows, samples, sha256 } = heams.dataset;
  const which = repository ?? file ?? name;
  return [
    which === undefined ? 'unknown' : code(which),
    ...(revision === undefined ? [] : [', revision ', code(revision)]),
    ...(rows === undefined ? [] : [`, ${countText(rows)} rows`]),
    ...(samples === undefined ? [] : [`, ${countText(samples)} samples taken`]),
    ...(sha256 === undefined ? [] : [', sha256 ', code(sha256.slice(0, 12))]),
  ];
}

function judgeText({ benchmark }: ArmConfig): Rich {
  const evaluator = benchmark?.evaluator;
  if (!evaluator) return 'unknown';
  const models = [
    evaluator.judge_model_id,
    ...evaluator.extra_judges.map(({ judge_model_id }) => judge_model_id),
  ].filter((model) => model !== undefined);
  if (models.length === 0) return ['none: ', code(evaluator.type ?? 'unknown')];
  return models.flatMap((model, i) => (i === 0 ? [code(model)] : [', ', code(model)]));
}

/** What the arm was set up with, by the config that the run wrote beside its records: names and texts of a table's rows. */
export function setupRows(config: Json | undefined): [name: string, text: Rich][] {
  const parsed = configSchema.safeParse(config);
  if (!parsed.success) return [['Configured', UNKNOWN]];
  const { data } = parsed;
  const [{ agent, memory, defence }] = data.experiments;
  return [
    ['Agent model, as configured', orNone(agent.model_id, 'none')],
    ['Memory strategy', orNone(agent.memory_strategy, 'the agent’s own')],
    ['Memory backend', orNone(memory.backend, 'unknown')],
    ['top_k', orNone(memory.top_k, 'none: it has no such option')],
    ['Defence model, as configured', orNone(defence?.model_id, 'none')],
    ['Dataset', datasetText(data)],
    ['Haystack', orNone(data.benchmark?.haystack, 'none')],
    ['Sessions', orNone(data.benchmark?.sessions, 'none')],
    ['Judge model', judgeText(data)],
    ['Seed', orNone(data.seed, 'unknown')],
    ['Repeats', orNone(data.repeats, 'unknown')],
  ];
}
