import { loadPackage } from '../../lib/optional-package.ts';
import { keepMem0Quiet } from './quiet.ts';

export const mem0Client = { name: 'mem0ai', install: 'mem0ai@3' } as const;
export const MEM0_URL = 'https://api.mem0.ai';

/** A refusal with all that the server said, where mem0's own error keeps the text alone. */
export class Mem0Refusal extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(response: Response, text: string) {
    super(text);
    this.status = response.status;
    this.headers = Object.fromEntries(response.headers);
  }
}

/** What `POST /v3/memories/add/` answers, as far as it is read here. */
export interface Added {
  eventId?: string;
  status?: string;
}

export interface ConnectOptions {
  apiKey: string;
  host: string;
}

/**
 * mem0's own client, one for each request, so that the request's signal reaches it. It does two things otherwise: it
 * does not ping the server when it is made (a failure would be printed, with what the server said), and its one way to
 * the server keeps the headers of a refusal, where the Retry-After stands, and can be given up.
 */
export async function loadMem0Client() {
  keepMem0Quiet();
  const { MemoryClient } = await loadPackage(mem0Client, () => import('mem0ai'));

  class HostedMem0 extends MemoryClient {
    readonly #signal: AbortSignal;

    constructor(options: ConnectOptions, signal: AbortSignal) {
      super(options);
      this.#signal = signal;
    }

    override async ping(): Promise<void> {}

    override async _fetchRawJson(url: string, options: RequestInit): Promise<unknown> {
      const headers = { ...(options.headers as Record<string, string>), Authorization: `Token ${this.apiKey}` };
      const response = await fetch(url, { ...options, headers, signal: this.#signal });
      const text = await response.text();
      if (!response.ok) throw new Mem0Refusal(response, text);
      return text === '' ? null : JSON.parse(text);
    }

    /** The state of an asynchronous write: `PENDING`, `RUNNING`, `SUCCEEDED` or `FAILED`. */
    async event(id: string): Promise<{ status?: string }> {
      const url = `${this.host}/v1/event/${encodeURIComponent(id)}/`;
      return this._fetchWithErrorHandling(url, { headers: this.headers });
    }
  }
  return (options: ConnectOptions) => (signal: AbortSignal) => new HostedMem0(options, signal);
}

export type Connect = Awaited<ReturnType<typeof loadMem0Client>>;
