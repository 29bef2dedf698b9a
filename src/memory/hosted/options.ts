import { z } from 'zod';
import type { MemoryCapabilities } from '../../contracts/memory.ts';
import type { Requirement } from '../../contracts/plugin.ts';
import { modelSettingsShape } from '../../schema/model-settings.ts';

/** What every file for a hosted system may say beside the system's own options. */
export function hostedShape(keyVariable: string) {
  return {
    /** Root of the API; the makers' own address where it is absent. */
    base_url: z.url().optional(),
    /** Name of the environment variable that holds the key. */
    api_key_env: modelSettingsShape.api_key_env.unwrap().default(keyVariable),
    /** Put before every scope's name, so that two runs of one config can share an account at the same time. */
    namespace: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,40}$/, 'at most 40 letters, digits, - and _')
      .default('heams'),
    /** Scopes that may be open at once: what the account's plan bears. */
    max_concurrency: z.int().positive().optional(),
    /** How long to wait between two looks at what is still being indexed, in seconds. */
    poll_interval_s: z.number().positive().default(1),
    /** Deadline of one request, in seconds. */
    timeout_s: z.number().positive().default(60),
  } as const;
}

const hostedOptions = z.object(hostedShape('KEY'));
export type HostedOptions = z.infer<typeof hostedOptions>;

/** What a hosted system needs: its client library, its key, its server. */
export function hostedNeeds(
  options: HostedOptions,
  { packageName, install, service, url }: { packageName: string; install: string; service: string; url: string },
): Requirement[] {
  return [
    { kind: 'package', name: packageName, install },
    { kind: 'variable', name: options.api_key_env, path: ['api_key_env'], role: service },
    { kind: 'server', url: options.base_url ?? url, path: ['base_url'] },
  ];
}

/** What every hosted system is; whether it rewrites facts and names them is its own to say. */
export const hostedCapabilities = (
  { max_concurrency }: HostedOptions,
  own: Pick<MemoryCapabilities, 'rewrites' | 'provenance'>,
): MemoryCapabilities => ({
  stores: true,
  ...own,
  honours_k: true,
  needs_network: true,
  needs_key: true,
  ...(max_concurrency === undefined ? {} : { max_concurrency }),
});

const transport: readonly string[] = ['name', 'description', ...Object.keys(hostedShape('KEY'))];

/** What of the options can change an outcome: not how the system is reached, and at which pace. */
export const hostedIdentity = (options: object): object =>
  Object.fromEntries(Object.entries(options).filter(([key]) => !transport.includes(key)));
