import type { IncomingMessage } from 'node:http';

/** What the test server does wrong when it is told to. */
export interface McpFaults {
  /** Every write is refused. */
  refuses?: boolean;
  /** Writes with this text are accepted and dropped. */
  drops?: string;
  /** Texts are changed. */
  rewrites?: boolean;
  /** A search is never answered. */
  silent?: boolean;
  /** A search ends the process. */
  dies?: boolean;
  /** A search is answered with 9 MB. */
  huge?: boolean;
  /** A search is answered with JSON of another shape, or with no JSON. */
  shapeless?: boolean;
  prose?: boolean;
  /** A search gives what others stored. */
  leaks?: boolean;
  /** Forgetting is said to be done, and is not. */
  keeps?: boolean;
  /** Over stdio: says nothing ever; ends with an error; prints what is no message; does not end with its input. */
  never_starts?: boolean;
  ends_at_once?: boolean;
  banner?: boolean;
  stays?: boolean;
  /** Over stdio: starts `sleep` for so long. */
  breeds?: string;
}

export type McpState = Map<string, { id: string; text: string }[]>;
export function makeState(): McpState;

export interface McpHttp {
  url: string;
  requests: { method: string; headers: IncomingMessage['headers'] }[];
  sessions: Map<string, unknown>;
  close(): Promise<void>;
}
export function startMcpHttp(options?: {
  faults?: McpFaults;
  state?: McpState;
  /** A status to answer a request with, in the server's place. */
  refuse?: (request: IncomingMessage, n: number) => number | undefined;
}): Promise<McpHttp>;
