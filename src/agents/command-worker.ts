import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Clock } from '../contracts/call.ts';
import { HeamsError } from '../lib/errors.ts';
import { excerpt } from '../lib/excerpt.ts';
import { guardProcess, killGroup, ownGroup, type Release } from '../lib/process-guard.ts';
import { Tail } from '../lib/tail.ts';
import { FrameReader } from './frame-reader.ts';
import { badReply, MAX_REPLY_BYTES, parseReply, tooLarge } from './remote-errors.ts';

export interface ProgramOptions {
  /** The agent's name, for errors. */
  name: string;
  command: string;
  args: readonly string[];
  cwd: string;
  /** The whole environment of the program, but for what tells it how to answer. */
  env: Readonly<Record<string, string>>;
  clock: Clock;
  redact(text: string): string;
}

export interface WorkerOptions extends ProgramOptions {
  /**
   * Told once when the process ends other than it was asked to, or makes no sense. `given_up`: HEAMS lost patience
   * with a request, which need not be the program's doing.
   */
  onFault(fault: HeamsError, kind: 'own' | 'given_up'): void;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

const STDERR_KEPT = 2000;
/** How long a program may take to end by itself once its input has ended. */
const END_GRACE_MS = 1000;

/**
 * One process of a program that speaks JSON lines: requests on its stdin, frames on its stdout. It is given up whole on
 * the first thing that makes no sense, since nothing that it says afterwards could be told to whom it belongs.
 */
export class CommandWorker {
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>;
  readonly #options: WorkerOptions;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #letGo: Release;
  readonly #frames: FrameReader;
  readonly #stderr = new Tail(STDERR_KEPT);
  readonly #waiting = new Map<string, Waiting>();
  #fault: HeamsError | undefined;
  #ending = false;
  #exited = false;
  /** Gone, and read to the end. */
  #ended = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { command, args, cwd } = options;
    const token = randomBytes(16).toString('hex');
    const env = { ...options.env, HEAMS_PROTOCOL: '1', HEAMS_FRAME: token };
    // A group of its own, so that what the program starts ends with it, and so that Ctrl-C is for HEAMS to act on.
    this.#child = spawn(command, [...args], { cwd, env, stdio: 'pipe', ...ownGroup });
    this.#letGo = guardProcess(this.#child.pid, undefined);
    this.#frames = new FrameReader({
      token,
      limit: MAX_REPLY_BYTES,
      onFrame: (bytes) => this.#read(bytes),
      onTooLarge: () => this.#giveUp(tooLarge(options.name, MAX_REPLY_BYTES), 'own'),
    });
    this.gone = this.#watch();
  }

  /** False once the process is given up or gone: it takes no more requests. */
  get alive(): boolean {
    return this.#fault === undefined && !this.#exited && !this.#ended;
  }

  ask(id: string, line: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (!this.alive) return reject(this.#fault ?? this.#died('it had ended'));
      this.#waiting.set(id, { resolve, reject });
      this.#child.stdin.write(`${line}\n`);
    });
  }

  /** Gives up one request with its own error, and the process with it: it may never come back from there. */
  giveUpOver(id: string, error: unknown): void {
    this.#waiting.get(id)?.reject(error);
    this.#waiting.delete(id);
    this.#giveUp(this.#died('it was ended, as one of its requests was given up'), 'given_up');
  }

  /** Asks it to end by ending its input, and makes sure. Resolves when it is gone. */
  async end(): Promise<void> {
    this.#ending = true;
    if (!this.#ended) {
      this.#child.stdin.end();
      const timer = new AbortController();
      const late = this.#options.clock.sleep(END_GRACE_MS, timer.signal).catch(() => {});
      await Promise.race([this.gone, late]);
      timer.abort(new Error('gone'));
    }
    this.#giveUp(this.#died('it was ended with the run'), 'given_up');
    await this.gone;
  }

  /** The end of what it printed, to go into an error. */
  printed(): string {
    const { redact } = this.#options;
    const part = (what: string, tail: Tail) => {
      // Cleaned before it is cut, so that no half of a key is left at its head.
      const text = redact(tail.text).trim();
      return text === '' ? '' : `; ${what} ends: ${excerpt(text.slice(-300), redact, 300)}`;
    };
    const half = this.#frames.unfinished ? '; it began a frame and did not end it' : '';
    return half + part('its stderr', this.#stderr) + part('its chatter on stdout', this.#frames.chatter);
  }

  #watch(): Promise<void> {
    const child = this.#child;
    child.stdout.on('data', (bytes: Buffer) => this.#frames.push(bytes));
    child.stderr.on('data', (bytes: Buffer) => this.#stderr.push(bytes));
    // That the pipe is broken shows in how the process ends.
    child.stdin.on('error', () => {});
    child.stdout.on('error', () => {});
    child.stderr.on('error', () => {});
    return new Promise((resolve) => {
      let story = 'it ended';
      child.on('error', (error: NodeJS.ErrnoException) => {
        story = `it could not be started (${error.code ?? error.message})`;
        if (child.pid === undefined) over();
      });
      child.once('exit', (code, signal) => {
        this.#exited = true;
        story = signal ? `it was ended by ${signal}` : `it ended with exit code ${code}`;
        // What it started may hold its output open.
        killGroup(this.#child);
      });
      // Once its output is read to the end: its last words may come after its exit.
      child.once('close', () => over());
      const over = () => {
        if (!this.#ending) this.#giveUp(this.#died(story), 'own');
        this.#ended = true;
        this.#failAll(this.#died(story));
        this.#letGo();
        resolve();
      };
    });
  }

  #read(bytes: Uint8Array): void {
    const { name, redact } = this.#options;
    try {
      const value = parseReply(bytes, name, redact);
      const id = (value as { id?: unknown } | null)?.id;
      const waiting = typeof id === 'string' ? this.#waiting.get(id) : undefined;
      if (waiting) {
        this.#waiting.delete(id as string);
        waiting.resolve(value);
        return;
      }
      const problem = id === undefined ? 'the reply has no "id"' : 'the reply has an id that no open request has';
      throw badReply(name, problem, excerpt(Buffer.from(bytes).toString('utf8'), redact));
    } catch (error) {
      this.#giveUp(error as HeamsError, 'own');
    }
  }

  /** Fails what is under way and kills the process with all that it started. */
  #giveUp(fault: HeamsError, kind: 'own' | 'given_up'): void {
    if (this.#fault || this.#ended) return;
    this.#fault = fault;
    this.#options.onFault(fault, kind);
    this.#failAll(fault);
    this.#frames.close();
    killGroup(this.#child);
  }

  #died(story: string): HeamsError {
    const { name, command, redact } = this.#options;
    const program = excerpt(command, redact);
    return new HeamsError(`agent "${name}": ${program}: ${story}${this.printed()}`, {
      code: 'agent_died',
      hint: 'run the program by hand, and look at what it prints',
    });
  }

  #failAll(error: HeamsError): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
