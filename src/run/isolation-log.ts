import type { MemoryBackend } from '../contracts/memory.ts';
import { HeamsError, messageOf } from '../lib/errors.ts';
import type { StoredItem } from '../schema/record.ts';
import type { Canary, IsolationRound } from './isolation-canaries.ts';

/** `disposed`: opened again after it was disposed of. */
export type IsolationStep = IsolationRound | 'disposed';
type Where = 'search' | 'list';

/** What one scope showed and must not. */
export interface IsolationBleed {
  step: IsolationStep;
  /** Number of the scope that showed it. */
  scope: number;
  where: Where;
  /** Whose canary it was and when it was written; absent where it was nobody's, in a scope that must be empty. */
  canary?: { scope: number; round: IsolationRound };
  /** How often. */
  count: number;
}

export interface IsolationFailure {
  step: IsolationStep;
  stage: string;
  code: string;
  count: number;
  /** Of the first. */
  message: string;
}

/** How many of a scope's own canaries were found where they were looked for. */
export interface OwnCanaries {
  searched: number;
  found: number;
  /** Of all that lists should have shown. */
  listable: number;
  listed: number;
}

/**
 * `bleeding`: a scope showed what is not its own. `failed`: a call failed, so not everything was looked at. `unproven`:
 * fewer than half of a scope's own canaries were found, and a memory that finds nothing shows nobody else's either.
 */
export type IsolationVerdict = 'isolated' | 'bleeding' | 'failed' | 'unproven';

export interface IsolationResult {
  version: 1;
  verdict: IsolationVerdict;
  /** Name of the plug-in. */
  backend: string;
  /** Keeps nothing by design: there is nothing to prove. */
  stores: boolean;
  seed: string;
  scopes: number;
  concurrency: number;
  /** How many scopes were open at the same time. */
  open_at_once: number;
  searches: number;
  own: Record<IsolationRound, OwnCanaries>;
  /** By scope and step; the first 1,000 kinds. */
  bleeds: IsolationBleed[];
  /** How often anything was shown that must not be. */
  bled: number;
  failures: IsolationFailure[];
}

const MOST_BLEEDS = 1000;
const none = (): OwnCanaries => ({ searched: 0, found: 0, listable: 0, listed: 0 });
const isOwn = (canary: Canary, own: readonly Canary[]) => own.includes(canary);

interface Place {
  round: IsolationStep;
  scope: number;
  where: Where;
}

/** Gathers what a proof of isolation sees. */
export class IsolationLog {
  private readonly bleeds = new Map<string, IsolationBleed>();
  private readonly failures = new Map<string, IsolationFailure>();
  private readonly own = { concurrent: none(), resumed: none() };
  private readonly survivorsOf = { concurrent: 0, resumed: 0 };
  private searches = 0;
  private openAtOnce = 0;
  private bled = 0;
  private backend: Pick<MemoryBackend, 'name' | 'capabilities'> | undefined;

  describe(backend: MemoryBackend): void {
    this.backend = backend;
  }

  opened(atOnce: number): void {
    this.openAtOnce = Math.max(this.openAtOnce, atOnce);
  }

  survived(round: IsolationRound, count: number): void {
    this.survivorsOf[round] += count;
  }

  survivors(round: IsolationRound): number {
    return this.survivorsOf[round];
  }

  searched(): void {
    this.searches += 1;
  }

  /** What a scope that was written to showed; `wanted` is the canary of its own that it was asked for. */
  saw(place: Place, seen: readonly Canary[], own: readonly Canary[], wanted?: Canary): void {
    const counts = this.own[place.round as IsolationRound];
    if (place.where === 'list') {
      counts.listable += own.length;
      counts.listed += own.filter((canary) => seen.includes(canary)).length;
    } else if (wanted) {
      counts.searched += 1;
      if (seen.includes(wanted)) counts.found += 1;
    }
    for (const canary of seen) if (!isOwn(canary, own)) this.bleed(place, canary);
  }

  /** What a scope that must be empty showed. */
  sawInEmpty(place: Place, items: readonly StoredItem[], seen: readonly Canary[]): void {
    for (const canary of seen) this.bleed(place, canary);
    if (items.length > 0 && seen.length === 0) this.bleed(place);
  }

  private bleed({ round: step, scope, where }: Place, canary?: Canary): void {
    this.bled += 1;
    const whose = canary && { scope: canary.scope, round: canary.round };
    const key = JSON.stringify([step, scope, where, whose]);
    const known = this.bleeds.get(key);
    if (known) known.count += 1;
    else if (this.bleeds.size < MOST_BLEEDS) {
      this.bleeds.set(key, { step, scope, where, ...(whose ? { canary: whose } : {}), count: 1 });
    }
  }

  failed(step: IsolationStep, stage: string, error: unknown): void {
    const code = error instanceof HeamsError ? error.code : 'internal';
    const key = `${step} ${stage} ${code}`;
    const known = this.failures.get(key);
    if (known) known.count += 1;
    else this.failures.set(key, { step, stage, code, count: 1, message: messageOf(error).slice(0, 500) });
  }

  private verdict(): IsolationVerdict {
    if (this.bled > 0) return 'bleeding';
    if (this.failures.size > 0) return 'failed';
    const proven = Object.values(this.own).every(({ searched, found }) => searched > 0 && found * 2 >= searched);
    return proven ? 'isolated' : 'unproven';
  }

  result(of: Pick<IsolationResult, 'scopes' | 'concurrency' | 'seed'>): IsolationResult {
    return {
      version: 1,
      verdict: this.verdict(),
      backend: this.backend?.name ?? '',
      stores: this.backend?.capabilities.stores ?? false,
      ...of,
      open_at_once: this.openAtOnce,
      searches: this.searches,
      own: this.own,
      bleeds: [...this.bleeds.values()].sort((a, b) => a.scope - b.scope),
      bled: this.bled,
      failures: [...this.failures.values()],
    };
  }
}
