import type { CallContext } from '../contracts/call.ts';
import { HeamsError, messageOf } from '../lib/errors.ts';
import { excerpt } from '../lib/excerpt.ts';
import { onAbort } from '../lib/on-abort.ts';
import type { AgentRequest } from '../schema/agent-protocol.ts';
import { CommandWorker, type ProgramOptions } from './command-worker.ts';
import type { Received, Transport } from './remote-client.ts';
import { noAnswer } from './remote-errors.ts';

export interface CommandPoolOptions extends ProgramOptions {
  workers: number;
  /** Requests that one process may have open at once. */
  requestsPerWorker: number;
  timeoutS: number;
}

/** A place for one process at a time. */
interface Place {
  worker: CommandWorker | undefined;
  open: number;
  /** Processes that ended badly since the last answer. */
  deaths: number;
  /** What made the last process end badly; told with the next answer. */
  fault: string | undefined;
  /** Scopes whose memory the process holds. */
  held: number;
}

interface Waiter {
  /** Where it must go; anywhere where absent. */
  place: Place | undefined;
  grant(place: Place): void;
}

/** After so many processes in a row that ended without an answer, no more are started. */
const MAX_DEATHS = 5;
const DONE = new Error('the request is over');

/**
 * Some processes of one program, started when they are needed. A request goes to a process that is free, in turn; those
 * of a scope whose memory a process holds go to that process alone, and fail once it is gone.
 */
export class CommandPool implements Transport {
  readonly #options: CommandPoolOptions;
  readonly #places: readonly Place[];
  readonly #holders = new Map<string, { place: Place; worker: CommandWorker | undefined }>();
  readonly #waiting: Waiter[] = [];
  #closed = false;

  constructor(options: CommandPoolOptions) {
    this.#options = options;
    this.#places = Array.from({ length: options.workers }, () => ({
      worker: undefined,
      open: 0,
      deaths: 0,
      fault: undefined,
      held: 0,
    }));
  }

  async send(request: AgentRequest, { signal }: CallContext): Promise<Received> {
    const place = await this.#acquire(this.#holders.get(request.scope)?.place, signal);
    try {
      const value = await this.#exchange(this.#workerFor(request, place), request, signal);
      const { fault } = place;
      place.deaths = 0;
      place.fault = undefined;
      return { value, ...(fault === undefined ? {} : { warnings: [`the program was started again: ${fault}`] }) };
    } finally {
      this.#release(place);
    }
  }

  hold(scope: string): void {
    const place = this.#freest('held');
    place.held += 1;
    this.#holders.set(scope, { place, worker: undefined });
  }

  letGo(scope: string): void {
    const holder = this.#holders.get(scope);
    if (!holder) return;
    this.#holders.delete(scope);
    holder.place.held -= 1;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#places.map(({ worker }) => worker?.end()));
  }

  #freest(key: 'open' | 'held'): Place {
    return this.#places.reduce((best, one) => (one[key] < best[key] ? one : best));
  }

  #acquire(wanted: Place | undefined, signal: AbortSignal): Promise<Place> {
    signal.throwIfAborted();
    const place = wanted ?? this.#freest('open');
    if (place.open < this.#options.requestsPerWorker) {
      place.open += 1;
      return Promise.resolve(place);
    }
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        place: wanted,
        grant: (granted) => {
          off();
          resolve(granted);
        },
      };
      const off = onAbort(signal, () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal.reason);
      });
      this.#waiting.push(waiter);
    });
  }

  /** Whoever waits longest and may go there is next. */
  #release(place: Place): void {
    place.open -= 1;
    const next = this.#waiting.findIndex((waiter) => waiter.place === undefined || waiter.place === place);
    if (next === -1) return;
    const [waiter] = this.#waiting.splice(next, 1);
    place.open += 1;
    waiter?.grant(place);
  }

  /** The process for a request: of a scope's memory the one that was asked first, as another one knows nothing of it. */
  #workerFor({ scope, type }: AgentRequest, place: Place): CommandWorker {
    const holder = this.#holders.get(scope);
    if (holder?.worker && !holder.worker.alive && type !== 'forget') {
      throw this.#ended(`the process that was told the facts of this scope is gone: ${place.fault ?? 'it ended'}`);
    }
    const worker = this.#workerAt(place);
    if (holder) holder.worker ??= worker;
    return worker;
  }

  /** The place's process, started if there is none. */
  #workerAt(place: Place): CommandWorker {
    if (this.#closed) throw this.#ended('it was closed');
    if (place.worker?.alive) return place.worker;
    if (place.deaths >= MAX_DEATHS) {
      throw this.#ended(`it ended ${place.deaths} times in a row without an answer; the last time: ${place.fault}`);
    }
    const onFault = (fault: HeamsError, kind: 'own' | 'given_up') => {
      place.fault = fault.message;
      if (kind === 'own') place.deaths += 1;
    };
    try {
      place.worker = new CommandWorker({ ...this.#options, onFault });
      return place.worker;
    } catch (error) {
      throw this.#ended(`the program could not be started: ${excerpt(messageOf(error), this.#options.redact)}`);
    }
  }

  /** One request under its deadline; the process does not outlive a request that is given up. */
  async #exchange(worker: CommandWorker, request: AgentRequest, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const { name, timeoutS, clock } = this.#options;
    const timer = new AbortController();
    clock.sleep(timeoutS * 1000, timer.signal).then(
      () => worker.giveUpOver(request.id, noAnswer(name, timeoutS, worker.printed())),
      () => {},
    );
    const off = onAbort(signal, () => worker.giveUpOver(request.id, signal.reason));
    try {
      return await worker.ask(request.id, JSON.stringify(request));
    } finally {
      off();
      timer.abort(DONE);
    }
  }

  #ended(story: string): HeamsError {
    return new HeamsError(`agent "${this.#options.name}": ${story}`, {
      code: 'agent_died',
      hint: 'run the program by hand, and look at what it prints',
    });
  }
}
