import type { Sample } from '../../contracts/benchmark.ts';
import type { Json } from '../../schema/json.ts';

/** One annotation value. A nested value has several parts: any part leaks it, all parts cover it. */
export interface CiItem {
  key: string;
  value: Json;
  /** The leaves of the value, in order. */
  parts: readonly string[];
  /** The whole fact that the value is a part of, as text; the value itself where no fact has this key. */
  fullValue: string;
}

/** The seed's words that prompts may use. The label lists and the reasoning are not among them. */
export const seedVariables = [
  'scenario',
  'domain',
  'user_intention',
  'sender',
  'recipient',
  'data_subject',
  'transmission_principle',
] as const;

export interface CiData {
  seed: Readonly<Record<(typeof seedVariables)[number], string>>;
  secrets: readonly CiItem[];
  fields: readonly CiItem[];
}

export type CiSample = Sample<CiData>;
