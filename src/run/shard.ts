import { hashOf } from '../lib/hash.ts';

/** One of `count` parts of the samples, counted from 1. */
export interface Shard {
  index: number;
  count: number;
}

export const shardName = ({ index, count }: Shard): string => `${index}/${count}`;

/**
 * The samples of one part. The hash of its id says where a sample belongs, so that it stays there whatever a limit
 * takes or leaves; parts are about, and not quite, equally large.
 */
export function shardOf<S extends { id: string }>(samples: readonly S[], { index, count }: Shard): S[] {
  return samples.filter(({ id }) => Number.parseInt(hashOf(id).slice(0, 12), 16) % count === index - 1);
}
