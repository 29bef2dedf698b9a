import type { ChatModel } from '../contracts/model.ts';
import type { ModelSettings } from '../schema/model-settings.ts';
import type { EmbeddingReply, ModelCall } from './model-call.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** All that a provider's client is built from. Clients read no environment of their own. */
export interface Connection {
  /** `provider:model`, as configured. */
  modelId: string;
  /** The model as the provider names it. */
  model: string;
  settings: ModelSettings;
  /** Without a slash at its end; absent where the provider talks to nobody. */
  baseUrl: string | undefined;
  apiKey: string | undefined;
  headers: Readonly<Record<string, string>>;
  env: Env;
  fetch: typeof fetch;
  /** Milliseconds since the epoch, to read a Retry-After date. */
  now: () => number;
}

export interface EmbeddingClient {
  /** Texts that one request may carry. */
  maxBatch: number;
  embed: ModelCall<readonly string[], EmbeddingReply>;
}

/** One service that serves models. One file, one line in the registry; `chat` and `embedding` load its client. */
export interface Provider {
  readonly name: string;
  readonly summary: string;
  /** What it needs to run, in words. */
  readonly needs: string;
  /** Variables that may hold the key; the first that is set is taken. */
  readonly keyEnv: readonly string[];
  readonly keyRequired: boolean;
  /** Where its API is: `base_url`, else the first variable that is set, else the default. */
  readonly baseUrl?: { env: readonly string[]; default?: string; normalize?: (url: string) => string };
  /** Runs in this process and costs nothing. */
  readonly free?: boolean;
  chat?(connection: Connection): Promise<ChatModel>;
  embedding?(connection: Connection): Promise<EmbeddingClient>;
}

/** Adds the version segment that official clients leave to the client, unless the path names one already. */
export function withVersionPath(url: string, version: string): string {
  return /\/v\d[^/]*$/.test(url) ? url : `${url}/${version}`;
}
