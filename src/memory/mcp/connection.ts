import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Clock } from '../../contracts/call.ts';
import type { ToolSpec } from '../../contracts/model.ts';
import { HeamsError, messageOf } from '../../lib/errors.ts';
import { excerpt } from '../../lib/excerpt.ts';
import { linkedAbort } from '../../lib/linked-abort.ts';
import { nearest } from '../../lib/nearest.ts';
import { VERSION } from '../../lib/version.ts';
import { type Json, json } from '../../schema/json.ts';
import type { Sdk } from './sdk.ts';

/** What a tool gave: its structured content where it has some, and its texts. */
export interface ToolReply {
  structured?: Json;
  texts: string[];
  /** The tool says that it failed; the texts say how. */
  failed: boolean;
}

export interface ConnectionOptions {
  sdk: Sdk;
  transport: Transport;
  clock: Clock;
  timeoutS: number;
  startTimeoutS: number;
  redact(text: string): string;
  /** How the server ended or what it printed, where that is known. */
  story(): string;
  /** Gives the server up at once: nothing that it says afterwards is heard. */
  kill(): void;
}

/** What the server answers with a JSON-RPC error, and not by its silence or its end. */
class Refused extends HeamsError {}

/** The longest wait that a timer takes: the SDK's own deadlines are not used. */
const NEVER_MS = 2 ** 31 - 1;
const CLOSED = -32_000;
/** Pages of tools that a server may have. */
const MAX_PAGES = 50;

/** One session with an MCP server. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #client: Client;
  #tools: ToolSpec[] = [];
  #fault: HeamsError | undefined;
  #ended = false;

  private constructor(options: ConnectionOptions) {
    const { Client } = options.sdk;
    this.#options = options;
    this.#client = new Client({ name: 'heams', version: VERSION });
    this.#client.onclose = () => {
      this.#ended = true;
    };
    this.#client.onerror = () => {};
  }

  /** Starts the server and asks for its tools. What was started is gone again where this rejects. */
  static async open(options: ConnectionOptions, signal: AbortSignal): Promise<Connection> {
    const connection = new Connection(options);
    const deadline = { signal, timeoutS: options.startTimeoutS };
    try {
      await connection.#inTime('start', deadline, (own) =>
        connection.#client.connect(options.transport, { signal: own, timeout: NEVER_MS }),
      );
      connection.#tools = await connection.#listTools(deadline);
      return connection;
    } catch (error) {
      await connection.end();
      throw error;
    }
  }

  /** False once it is given up, or the server is gone. */
  get alive(): boolean {
    return this.#fault === undefined && !this.#ended;
  }

  get tools(): readonly ToolSpec[] {
    return this.#tools;
  }

  /** @throws HeamsError `memory_no_such_tool` */
  requireTools(names: readonly string[]): void {
    const there = this.#tools.map(({ name }) => name);
    const missing = names.find((name) => !there.includes(name));
    if (missing === undefined) return;
    const meant = nearest(missing, there);
    throw new HeamsError(`the MCP server has no tool ${JSON.stringify(missing)}`, {
      code: 'memory_no_such_tool',
      expected: `one of: ${there.map((name) => excerpt(name, this.#options.redact, 60)).join(', ')}`,
      found: missing,
      ...(meant ? { hint: `did you mean "${excerpt(meant, this.#options.redact, 60)}"?` } : {}),
    });
  }

  /**
   * Calls a tool. A tool that says it failed is a reply; that the server refuses the call is `memory_refused`.
   *
   * @throws HeamsError `memory_timeout`, `memory_died`, `memory_refused`, `memory_bad_response`
   */
  async call(name: string, args: { [key: string]: Json }, signal: AbortSignal): Promise<ToolReply> {
    const { CallToolResultSchema } = this.#options.sdk;
    const request = { method: 'tools/call' as const, params: { name, arguments: args } };
    const result = await this.#inTime(name, { signal, timeoutS: this.#options.timeoutS }, (own) =>
      this.#client.request(request, CallToolResultSchema, { signal: own, timeout: NEVER_MS }),
    );
    const structured = result.structuredContent === undefined ? undefined : json.safeParse(result.structuredContent);
    if (structured && !structured.success) throw badResponse(name, 'its structured content is no JSON value');
    return {
      ...(structured ? { structured: structured.data } : {}),
      texts: result.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
      failed: result.isError === true,
    };
  }

  /** Whether an error is the server's answer to this one call, after which it may be asked another. */
  static isRefusal(error: unknown): error is HeamsError {
    return error instanceof Refused;
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#client.close().catch(() => {});
    await this.#options.transport.close().catch(() => {});
  }

  async #listTools(deadline: Deadline): Promise<ToolSpec[]> {
    const { ListToolsResultSchema } = this.#options.sdk;
    const tools: ToolSpec[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const result = await this.#inTime('tools/list', deadline, (own) =>
        this.#client.request({ method: 'tools/list' as const, params }, ListToolsResultSchema, {
          signal: own,
          timeout: NEVER_MS,
        }),
      );
      for (const { name, description = '', inputSchema } of result.tools) {
        tools.push({ name, description, inputSchema: inputSchema as { [key: string]: Json } });
      }
      cursor = result.nextCursor;
      if (cursor === undefined) break;
    }
    return tools;
  }

  async #inTime<T>(what: string, { signal, timeoutS }: Deadline, work: (own: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (!this.alive) throw this.#fault ?? this.#died(what);
    const own = linkedAbort(signal);
    const timer = new AbortController();
    const late = this.#options.clock.sleep(timeoutS * 1000, timer.signal).then(
      () => this.#late(what, timeoutS),
      () => undefined,
    );
    const fault = late.then((error) => (error ? Promise.reject(error) : new Promise<never>(() => {})));
    fault.catch(() => {});
    try {
      return await Promise.race([work(own.signal), fault]);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#fault ?? this.#told(what, error);
    } finally {
      timer.abort(ANSWERED);
      own.release();
    }
  }

  /** A server that was given up over one request may never come back from there. */
  #late(what: string, timeoutS: number): HeamsError {
    const { story, kill } = this.#options;
    this.#fault = new HeamsError(`the MCP server did not answer within ${timeoutS} s: ${what}; ${story()}`, {
      code: 'memory_timeout',
      hint: 'raise timeout_s or start_timeout_s in the memory file, or look at the server',
    });
    kill();
    return this.#fault;
  }

  #died(what: string): HeamsError {
    return new HeamsError(`the MCP server is gone: ${what}: ${this.#options.story()}`, {
      code: 'memory_died',
      hint: 'run the server by hand, and look at what it prints',
    });
  }

  #told(what: string, error: unknown): HeamsError {
    if (error instanceof HeamsError) return error;
    const { sdk, redact } = this.#options;
    const said = excerpt(messageOf(error), redact);
    const { code } = error as { code?: unknown };
    if (error instanceof sdk.McpError && code !== CLOSED) {
      return new Refused(`the MCP server refused ${what}: ${said}`, {
        code: 'memory_refused',
        hint: 'look at the arguments in the memory file, and at what the tool takes',
      });
    }
    if (error instanceof sdk.StreamableHTTPError || error instanceof TypeError) return this.#unreachable(what, error);
    if (code === CLOSED || this.#ended) return this.#died(what);
    return badResponse(what, said);
  }

  /** What goes wrong with HTTP. A session that the server has forgotten is over. */
  #unreachable(what: string, error: Error & { code?: unknown }): HeamsError {
    const { cause } = error as { cause?: { code?: unknown } };
    const status = typeof error.code === 'number' && error.code > 0 ? `HTTP ${error.code}` : String(cause?.code ?? '');
    const auth = error.code === 401 || error.code === 403;
    this.#ended = !auth;
    return new HeamsError(
      `the MCP server cannot be reached: ${what}: ${status}: ${excerpt(error.message, this.#options.redact)}`,
      auth
        ? { code: 'memory_auth', hint: 'check headers in the memory file, and the key that they refer to' }
        : { code: 'memory_unreachable', hint: 'check url in the memory file, and whether the server runs' },
    );
  }
}

interface Deadline {
  signal: AbortSignal;
  timeoutS: number;
}

/** Made once: an abort without a reason builds an error with a stack. */
const ANSWERED = new Error('answered');

function badResponse(what: string, problem: string): HeamsError {
  return new HeamsError(`the MCP server's answer to ${what} makes no sense: ${problem}`, {
    code: 'memory_bad_response',
    hint: 'look at what the server answers',
  });
}
