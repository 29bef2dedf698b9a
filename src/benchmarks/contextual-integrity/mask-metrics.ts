import type { CiMetrics, SideExposure } from '../../schema/ci-metrics.ts';
import type { Json } from '../../schema/json.ts';
import type { SampleRecord } from '../../schema/record.ts';
import { type Mask, maskJson, maskOf } from '../../view/mask.ts';
import { ciViewer } from './viewer.ts';

interface At {
  sample_id: string;
  repeat: number;
}

/** The record of a sample and repeat; nothing where there is none. */
export type RecordAt = (at: At) => Promise<SampleRecord | undefined>;

/**
 * Metrics with the secrets struck out of every text that they quote: messages, values, evidence, words of an error. The
 * numbers stay as they are: masking is done after counting, as rules look at the texts themselves.
 */
export async function maskMetrics(metrics: CiMetrics, recordAt: RecordAt): Promise<CiMetrics> {
  const masks = new Map<string, Promise<Mask>>();
  const maskAt = (at: At): Promise<Mask> => {
    const name = JSON.stringify([at.sample_id, at.repeat]);
    const making = async () => {
      const record = await recordAt(at);
      return maskOf(record ? ciViewer.secrets(record) : []);
    };
    const known = masks.get(name) ?? making();
    masks.set(name, known);
    return known;
  };
  const evidenceOf = (mask: Mask, evidence: string | undefined) =>
    evidence === undefined ? {} : { evidence: mask.text(evidence) };
  const maskSide = async (side: SideExposure): Promise<SideExposure> => ({
    ...side,
    unrecalled: await Promise.all(
      side.unrecalled.map(async (item) => {
        const mask = await maskAt(item);
        return { ...item, value: maskJson(item.value, mask), ...evidenceOf(mask, item.evidence) };
      }),
    ),
  });
  const maskMessages = <T extends At & { message: string }>(list: readonly T[]): Promise<T[]> =>
    Promise.all(list.map(async (one) => ({ ...one, message: (await maskAt(one)).text(one.message) })));
  const { secret, field } = metrics.exposure;
  const { panel } = metrics;
  return {
    ...metrics,
    worst: await Promise.all(
      (await maskMessages(metrics.worst)).map(async (sample) => {
        const mask = await maskAt(sample);
        const secrets = sample.secrets.map((item) => ({
          ...item,
          value: maskJson(item.value, mask),
          ...evidenceOf(mask, item.evidence),
        }));
        return { ...sample, secrets };
      }),
    ),
    exposure: { secret: await maskSide(secret), field: await maskSide(field) },
    failures: await Promise.all(
      metrics.failures.map(async (group) => ({ ...group, examples: await maskMessages(group.examples) })),
    ),
    ...(panel ? { panel: { ...panel, disputed: { ...panel.disputed, listed: await maskListed(panel, maskAt) } } } : {}),
  };
}

function maskListed(panel: NonNullable<CiMetrics['panel']>, maskAt: (at: At) => Promise<Mask>) {
  return Promise.all(
    panel.disputed.listed.map(async (item) =>
      item.value === undefined ? item : { ...item, value: maskJson(item.value as Json, await maskAt(item)) },
    ),
  );
}
