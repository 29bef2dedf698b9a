import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../../contracts/call.ts';
import { excerpt } from '../../lib/excerpt.ts';
import { guardProcess, killGroup, ownGroup, type Release } from '../../lib/process-guard.ts';
import { Tail } from '../../lib/tail.ts';

export interface ChildOptions {
  command: string;
  args: readonly string[];
  cwd: string;
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  /** The process's own folder, which goes with it where HEAMS is killed. */
  folder: string;
  clock: Clock;
  /** Reads a line as a message; of the SDK. Throws where it is none. */
  readMessage(line: string): JSONRPCMessage;
  redact(text: string): string;
}

const KEPT = 2000;
const NEWLINE = 0x0a;
/** No message may be larger, in bytes: it is held in memory and goes into a record. */
const MAX_LINE = 8 * 1024 * 1024;
/** How long a program may take to end by itself once its input has ended. */
const END_GRACE_MS = 1000;

/**
 * A program that speaks MCP on its stdin and stdout, as a transport of the SDK. Unlike the SDK's own it is given only the
 * environment that is named, goes with all that it has started, goes when HEAMS is killed, and is told about when it dies.
 */
export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  readonly #options: ChildOptions;
  readonly #stderr = new Tail(KEPT);
  readonly #rubbish = new Tail(KEPT);
  /** The parts of the line that has not ended yet. */
  #line: Buffer[] = [];
  #lineBytes = 0;
  #child: ChildProcessWithoutNullStreams | undefined;
  #release: Release = () => {};
  #gone: Promise<void> = Promise.resolve();
  #ended = false;
  #end = 'it was not started';

  constructor(options: ChildOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** How it ended, and the end of what it printed beside its messages. */
  story(): string {
    return `${this.#ended ? this.#end : 'it is running'}${this.printed()}`;
  }

  printed(): string {
    const part = (what: string, tail: Tail) => {
      const text = tail.text.trim();
      return text === '' ? '' : `; ${what} ends: ${excerpt(text.slice(-300), this.#options.redact, 300)}`;
    };
    return part('its stderr', this.#stderr) + part('its stdout has what is no message, and', this.#rubbish);
  }

  async start(): Promise<void> {
    const { command, args, cwd, env, folder } = this.#options;
    const child = spawn(command, [...args], { cwd, env, stdio: 'pipe', ...ownGroup });
    this.#child = child;
    this.#release = guardProcess(child.pid, folder);
    child.stdout.on('data', (bytes: Buffer) => this.#read(bytes));
    child.stderr.on('data', (bytes: Buffer) => this.#stderr.push(bytes));
    // That a pipe is broken shows in how the process ends.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {});
    this.#gone = new Promise((resolve) => {
      const over = () => {
        this.#ended = true;
        this.#release();
        resolve();
        this.onclose?.();
      };
      child.once('error', (error: NodeJS.ErrnoException) => {
        this.#end = `it could not be started (${error.code ?? error.message})`;
        if (child.pid === undefined) over();
      });
      child.once('exit', (code, signal) => {
        this.#end = signal ? `it was ended by ${signal}` : `it ended with exit code ${code}`;
        // What it started may hold its output open.
        killGroup(child);
      });
      child.once('close', over);
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#ended || !this.#child) return;
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** Ends its input, and it where it does not end by itself. Resolves when it is gone. */
  async close(): Promise<void> {
    const child = this.#child;
    if (!child || this.#ended) return this.#gone;
    child.stdin.end();
    const timer = new AbortController();
    const late = this.#options.clock.sleep(END_GRACE_MS, timer.signal).catch(() => {});
    await Promise.race([this.#gone, late]);
    timer.abort(GONE);
    killGroup(child);
    await this.#gone;
  }

  /** Ends it at once. */
  kill(): void {
    if (this.#child && !this.#ended) killGroup(this.#child);
  }

  #read(bytes: Buffer): void {
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      this.#line.push(bytes.subarray(from, end));
      from = end + 1;
      const line = Buffer.concat(this.#line).toString('utf8');
      this.#line = [];
      this.#lineBytes = 0;
      this.#take(line);
    }
    this.#line.push(bytes.subarray(from));
    this.#lineBytes += bytes.length - from;
    if (this.#lineBytes <= MAX_LINE) return;
    this.#line = [];
    this.#rubbish.push(Buffer.from(`(a line of more than ${MAX_LINE} bytes)`));
    this.kill();
  }

  /** What is no message is a banner or a log line: it is kept for errors, and what comes next may be a message. */
  #take(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = this.#options.readMessage(line);
    } catch {
      this.#rubbish.push(Buffer.from(`${line.slice(0, KEPT)}\n`));
      return;
    }
    this.onmessage?.(message);
  }
}

const GONE = new Error('the process is gone');
