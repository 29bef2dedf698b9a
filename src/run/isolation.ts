import type { CallContext, Clock, Meter } from '../contracts/call.ts';
import type { MemoryBackend, MemoryScope } from '../contracts/memory.ts';
import { BudgetError } from '../contracts/model.ts';
import { seededRandom, shuffled } from '../lib/random.ts';
import type { StoredItem } from '../schema/record.ts';
import { inTime } from './guarded-scope.ts';
import { type Canary, canariesIn, canariesOf, type IsolationRound, isolationScopeIds } from './isolation-canaries.ts';
import { IsolationLog, type IsolationResult } from './isolation-log.ts';
import { readyInTime } from './prime.ts';

export interface IsolationOptions {
  /** How many scopes; at least 2. */
  scopes: number;
  /** How many of them are used at once. */
  concurrency: number;
  /** Draws ids and canaries: the same seed gives the same ones. */
  seed: string;
  /** Deadlines, in seconds. */
  readyTimeoutS: number;
  memoryTimeoutS: number;
  clock: Clock;
  meter: Meter;
  signal: AbortSignal;
}

/** A scope that is open, with the canaries that are its own. */
interface Open {
  n: number;
  scope: MemoryScope;
  own: readonly Canary[];
}

/** Canaries of other scopes that each look searches for. */
const OTHERS = 3;
/** More than an agent asks for: what is found here at rank 9 is found elsewhere at rank 1. */
const LEAST_K = 10;

/**
 * Whether a memory keeps its scopes apart: canary facts are written to many scopes at once, and every scope is listed
 * and searched for its own canaries and for those of others, while others write and again when all have written. The
 * scopes are then left as a crash leaves them; a new backend opens them again, and they must be empty, hold new canaries
 * alone, and nothing at all once they were disposed of.
 *
 * Where a backend limits the scopes that may be open at once, they come in groups of that many, each group in a backend
 * of its own.
 *
 * @param make A backend over the same store, each time anew: what is kept in the store alone is still there.
 */
export async function proveIsolation(
  make: () => Promise<MemoryBackend>,
  options: IsolationOptions,
): Promise<IsolationResult> {
  const prover = new Prover(make, options);
  await prover.round('concurrent');
  // A memory that no scope could use is not tried again: its deadlines may be minutes.
  if (prover.log.survivors('concurrent') > 0) await prover.round('resumed');
  return prover.log.result({ scopes: options.scopes, concurrency: options.concurrency, seed: options.seed });
}

class Prover {
  readonly log = new IsolationLog();
  private readonly make: () => Promise<MemoryBackend>;
  private readonly options: IsolationOptions;
  private readonly ids: readonly string[];
  private readonly canaries: Record<IsolationRound, readonly (readonly Canary[])[]>;
  private readonly all: readonly Canary[];

  constructor(make: () => Promise<MemoryBackend>, options: IsolationOptions) {
    const { scopes, seed } = options;
    if (!Number.isInteger(scopes) || scopes < 2) throw new RangeError(`scopes is a whole number from 2, got ${scopes}`);
    this.make = make;
    this.options = options;
    this.ids = isolationScopeIds(scopes, seed);
    this.canaries = {
      concurrent: canariesOf(scopes, 'concurrent', seed),
      resumed: canariesOf(scopes, 'resumed', seed),
    };
    this.all = Object.values(this.canaries).flat(2);
  }

  async round(round: IsolationRound): Promise<void> {
    let next = 0;
    while (next < this.ids.length) {
      const backend = await this.make();
      try {
        this.log.describe(backend);
        const most = backend.capabilities.max_concurrency ?? this.ids.length;
        const group = this.ids.map((_, n) => n).slice(next, next + most);
        next += most;
        this.log.opened(group.length);
        await this.group(backend, round, group);
      } finally {
        await backend.close();
      }
    }
  }

  private async group(backend: MemoryBackend, round: IsolationRound, group: readonly number[]): Promise<void> {
    const began = await this.each(group, async (n) => {
      const one = await this.open(backend, round, n);
      await this.lookEmpty(one, round);
      for (const canary of one.own) {
        await this.step(round, 'write', () => this.timed('write', one.scope.write([canary.fact])));
      }
      await this.step(round, 'ready', () => readyInTime(one.scope, this.options));
      await this.look(one, round, backend);
      return one;
    });
    const lasting = await this.each(began, async (one) => {
      await this.look(one, round, backend);
      return one;
    });
    this.log.survived(round, lasting.length);
    if (round === 'resumed') await this.dispose(backend, lasting);
  }

  /** Disposes of every scope, then opens each once more to see that nothing is left. */
  private async dispose(backend: MemoryBackend, open: readonly Open[]): Promise<void> {
    const gone = await this.each(open, async (one) => {
      await this.step('disposed', 'dispose', () => this.timed('dispose', one.scope.dispose()));
      return one;
    });
    await this.each(gone, async ({ n }) => {
      const again = await this.open(backend, 'resumed', n);
      await this.lookEmpty(again, 'disposed');
      await this.step('disposed', 'dispose', () => this.timed('dispose', again.scope.dispose()));
    });
  }

  private async open(backend: MemoryBackend, round: IsolationRound, n: number): Promise<Open> {
    const { signal, meter } = this.options;
    const id = this.ids[n] as string;
    const call: CallContext = { signal, meter, stage: 'prime', salt: id, job: id };
    const scope = await this.step(round, 'open', () => this.timed('open', backend.open(id, call)));
    return { n, scope, own: this.canaries[round][n] as readonly Canary[] };
  }

  /** A scope that nothing was written to shows nothing, whatever it is asked for. */
  private async lookEmpty({ n, scope, own }: Open, round: IsolationRound | 'disposed'): Promise<void> {
    const listed = await this.step(round, 'list', () => this.timed('list', scope.list()));
    this.log.sawInEmpty({ round, scope: n, where: 'list' }, listed, this.seen(listed));
    const [earlier] = this.canaries.concurrent[n] as readonly Canary[];
    for (const wanted of [earlier, own[0], ...this.others(n, round).slice(0, 1)]) {
      if (wanted) await this.search(scope, { n, round, wanted, k: LEAST_K, empty: true });
    }
  }

  /** A scope that was written to shows its own canaries and nobody else's. */
  private async look({ n, scope, own }: Open, round: IsolationRound, { topK }: MemoryBackend): Promise<void> {
    const k = Math.max(topK, LEAST_K);
    const listed = await this.step(round, 'list', () => this.timed('list', scope.list()));
    const seen = this.seen(listed);
    this.log.saw({ round, scope: n, where: 'list' }, seen, own);
    for (const wanted of [...own, ...this.others(n, round)]) {
      await this.search(scope, { n, round, wanted, k, own });
    }
  }

  private async search(
    scope: MemoryScope,
    asked: {
      n: number;
      round: IsolationRound | 'disposed';
      wanted: Canary;
      k: number;
      own?: readonly Canary[];
      empty?: true;
    },
  ): Promise<void> {
    const { n, round, wanted, k, own = [] } = asked;
    const query = wanted.fact.text;
    const { items } = await this.step(round, 'search', () => this.timed('search', scope.search(query, k)));
    const place = { round, scope: n, where: 'search' } as const;
    const seen = this.seen(items);
    this.log.searched();
    if (asked.empty) this.log.sawInEmpty(place, items, seen);
    else this.log.saw(place, seen, own, own.includes(wanted) ? wanted : undefined);
  }

  private seen(items: readonly StoredItem[]): Canary[] {
    return canariesIn(items, this.all);
  }

  /** Canaries of other scopes: of the one whose id begins alike, and of some others. */
  private others(n: number, round: IsolationRound | 'disposed'): Canary[] {
    const partner = n % 2 === 0 ? n + 1 : n - 1;
    const rest = this.ids.map((_, other) => other).filter((other) => other !== n && other !== partner);
    const random = seededRandom('isolation others', this.options.seed, n, round);
    const chosen = [...(partner < this.ids.length ? [partner] : []), ...shuffled(rest, random)].slice(0, OTHERS);
    const written = round === 'concurrent' ? 'concurrent' : 'resumed';
    return chosen.map((other) => this.canaries[written][other]?.[0] as Canary);
  }

  private timed<T>(what: string, answer: Promise<T>): Promise<T> {
    const { memoryTimeoutS: timeoutS, clock, signal } = this.options;
    return inTime(what, answer, { timeoutS, clock, signal });
  }

  /** Work whose failure is noted, and ends what is done for this scope. */
  private async step<T>(
    round: IsolationRound | 'disposed',
    stage: 'open' | 'write' | 'ready' | 'list' | 'search' | 'dispose',
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (this.options.signal.aborted || error instanceof BudgetError) throw error;
      this.log.failed(round, stage, error);
      throw new Noted();
    }
  }

  /** Does this for each, `concurrency` at once; gives what it gave for those that got through. */
  private async each<T, R>(things: readonly T[], work: (thing: T) => Promise<R>): Promise<R[]> {
    const given: R[] = [];
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < things.length) {
        this.options.signal.throwIfAborted();
        const thing = things[next++] as T;
        await work(thing).then(
          (result) => given.push(result),
          (error: unknown) => {
            if (!(error instanceof Noted)) throw error;
          },
        );
      }
    };
    await Promise.all(Array.from({ length: Math.min(this.options.concurrency, things.length) }, worker));
    return given;
  }
}

/** A failure that is in the log already. */
class Noted extends Error {}
