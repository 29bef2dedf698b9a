import { expect, it } from 'vitest';
import type { MemoryBackend, MemoryCapabilities, MemoryScope } from '../../src/contracts/memory.ts';
import { scopeSlots } from '../../src/run/scope-slots.ts';
import type { Fact } from '../../src/schema/record.ts';
import { fakeCall } from './fake-call.ts';

/** What one scope alone may hold. The words around the token are the same in all, so that a shared store would mix. */
const canary = (n: number): Fact => ({
  id: `c${n}`,
  key: 'Locker',
  text: `Locker: the code of the locker is zq${(7919 * (n + 11)).toString(36)}vx`,
});
const tokenOf = ({ text }: Fact): string => text.split(' ').at(-1) as string;

export interface IsolationCases {
  backend(): MemoryBackend;
  capabilities: MemoryCapabilities;
}

/** The part of the contract about scopes among each other. To be called inside a `describe` block. */
export function isolationCases({ backend, capabilities }: IsolationCases): void {
  const { stores, rewrites, external, max_concurrency: most = Number.POSITIVE_INFINITY } = capabilities;
  const keepsTexts = stores && !rewrites && !external;

  async function primed(scopeId: string, facts: readonly Fact[]): Promise<MemoryScope> {
    const scope = await backend().open(scopeId, fakeCall({ stage: 'prime', job: scopeId }));
    await scope.write(facts);
    await scope.ready(new AbortController().signal);
    return scope;
  }

  /** All that a scope tells when it is asked for anything at all. */
  async function told(scope: MemoryScope): Promise<string> {
    const found = await scope.search('the code of the locker', 9);
    return [...(await scope.list()), ...found.items].map(({ text }) => text).join('\n');
  }

  /** Whose canaries are in what a scope told. */
  const seen = (text: string, all: readonly Fact[]) => all.filter((one) => text.includes(tokenOf(one)));

  it('keeps sixteen scopes apart that are primed and searched at once', async () => {
    const all = Array.from({ length: 16 }, (_, n) => canary(n));
    const withSlot = scopeSlots(backend());
    await Promise.all(
      all.map((own) =>
        withSlot(new AbortController().signal, async () => {
          const scope = await primed(`canary-${own.id}`, [own]);
          const text = await told(scope);
          expect(seen(text, all).filter((one) => one !== own)).toEqual([]);
          if (keepsTexts) expect(seen(text, all)).toEqual([own]);
          await scope.dispose();
        }),
      ),
    );
  });

  it.skipIf(most < 3)('disposes of one scope alone, also among ids that begin alike', async () => {
    const all = [canary(20), canary(21), canary(22)];
    const [short, middle, long] = await Promise.all(
      ['alike', 'alike-1', 'alike-10'].map((id, i) => primed(id, [all[i] as Fact])),
    );
    const scopes = [short, middle, long] as MemoryScope[];
    const before = await Promise.all(scopes.map(async (scope) => scope.list()));
    await middle?.dispose();
    for (const i of [0, 2]) {
      expect(await scopes[i]?.list()).toEqual(before[i]);
      const text = await told(scopes[i] as MemoryScope);
      expect(seen(text, all).filter((one) => one !== all[i])).toEqual([]);
      if (keepsTexts) expect(seen(text, all)).toEqual([all[i]]);
    }
    const again = await primed('alike-1', []);
    expect(await again.list()).toEqual([]);
    await Promise.all([short, again, long].map((scope) => scope?.dispose()));
  });

  it('opens empty under the id of a scope that was never disposed of, as after a crash', async () => {
    await primed('crashed', [canary(30)]);
    const scope = await primed('crashed', []);
    expect(await scope.list()).toEqual([]);
    expect((await scope.search('the code of the locker', 9)).items).toEqual([]);
    await scope.write([canary(31)]);
    await scope.ready(new AbortController().signal);
    expect(seen(await told(scope), [canary(30)])).toEqual([]);
    await scope.dispose();
  });

  it('cleans up after a run that was given up', async () => {
    const control = new AbortController();
    const scope = await backend().open('given-up', fakeCall({ stage: 'prime', signal: control.signal }));
    await scope.write([canary(40)]);
    await scope.ready(new AbortController().signal);
    control.abort(new Error('stop'));
    await scope.dispose();
  });

  it.skipIf(!stores)('takes facts that were told at a time and in a session', async () => {
    const dated: Fact[] = [canary(50), canary(51), canary(52)].map((one, i) => ({
      ...one,
      at: `2024-0${i + 1}-15T10:00:00.000Z`,
      session: i < 2 ? 's1' : 's2',
    }));
    const scope = await primed('dated', dated);
    const stored = await scope.list();
    if (keepsTexts) expect(stored.map(({ text }) => text).sort()).toEqual(dated.map(({ text }) => text).sort());
    await scope.dispose();
  });
}
