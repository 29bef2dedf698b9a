import { z } from 'zod';

/** What a cached dataset file is and where it came from; it lies beside the data as `<path>.manifest.json`. */
export const datasetManifestSchema = z.strictObject({
  version: z.literal(1),
  repository: z.string(),
  /** Branch, tag or commit, as it was asked for. */
  requested_revision: z.string(),
  /** The commit that it stood for when the file was fetched. */
  revision: z.string().regex(/^[0-9a-f]{40}$/, '40 hex digits'),
  /** The file inside the repository. */
  path: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, '64 hex digits'),
  bytes: z.int().nonnegative(),
  rows: z.int().positive(),
  /** ISO 8601, UTC. */
  fetched_at: z.string(),
});
export type DatasetManifest = z.infer<typeof datasetManifestSchema>;
