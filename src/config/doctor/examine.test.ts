import { describe, expect, it } from 'vitest';
import { fakeAgent, fakeMemory, fakeReply } from '../../../test/support/fake-parts.ts';
import { testHost } from '../../../test/support/project.ts';
import type { Agent } from '../../contracts/agent.ts';
import type { Defence } from '../../contracts/defence.ts';
import type { MemoryBackend, OwnMemory } from '../../contracts/memory.ts';
import type { PluginBase, PluginContext, Requirement } from '../../contracts/plugin.ts';
import { HeamsError } from '../../lib/errors.ts';
import type { Arm, Component, Run } from '../run.ts';
import type { DoctorCheck } from './check.ts';
import { examine } from './examine.ts';

type Create<T> = (options: unknown, context: PluginContext) => Promise<T>;
interface Given<T> {
  create?: Create<T>;
  requires?: Requirement[];
  models?: string[];
  ofAgent?: true;
}

function component<T>(name: string, fallback: Create<T>, given: Given<T> = {}): Component {
  const { create = fallback, requires = [], models = [], ofAgent } = given;
  const plugin = {
    name,
    offers: ['user_task'],
    requires: () => requires,
    models: () =>
      models.map((id) => ({ path: ['model_id'], settings: { model_id: id }, kind: 'chat', role: 'a role' })),
    ...(ofAgent ? { ofAgent } : {}),
    create,
  };
  const where = () => ({ file: `${name}.yaml`, line: 1, column: 1 });
  return { name, plugin: plugin as unknown as PluginBase<unknown>, options: {}, file: `/x/${name}.yaml`, where };
}

const agent = (given?: Given<Agent>, name = 'agent') => component<Agent>(name, async () => fakeAgent({ name }), given);
const memory = (given?: Given<MemoryBackend>) => component<MemoryBackend>('memory', async () => fakeMemory(), given);
const defence = (given?: Given<Defence>) =>
  component<Defence>('defence', async () => ({ name: 'defence', guard: (one) => one }), given);

const runOf = (...arms: { agent?: Component; memory?: Component; defence?: Component }[]): Run =>
  ({
    file: '/x/run.yaml',
    settings: { name: 'r', seed: 0, max_connections: 4, memory_ready_timeout_s: 1, memory_timeout_s: 1 },
    benchmark: component('benchmark', async () => ({})),
    arms: arms.map((parts, i) => ({ name: `arm${i}`, agent: agent(), memory: memory(), ...parts }) as Arm),
  }) as unknown as Run;

async function look(run: Run, { env = {}, offline = false }: { env?: Record<string, string>; offline?: boolean } = {}) {
  return examine(run, { host: testHost('/x', env), offline, signal: new AbortController().signal });
}
const of = (checks: DoctorCheck[], part: DoctorCheck['part']) =>
  checks.filter((one) => one.part === part).map(({ check, state, detail, next }) => ({ check, state, detail, next }));

describe('examine', () => {
  it('asks every part once, and says which arms have it', async () => {
    const shared = memory();
    const asked: string[] = [];
    const respond: Agent['respond'] = async (task, held) => {
      asked.push(`${Object.keys(task.variables)} ${(await held.scope.list()).length}`);
      return fakeReply();
    };
    const own = agent({ create: async () => fakeAgent({ respond }) });
    const checks = await look(runOf({ agent: own, memory: shared }, { memory: shared, defence: defence() }));
    expect(checks.map(({ part, arms, check, state }) => [part, arms.join(' '), check, state])).toEqual([
      ['benchmark', 'arm0 arm1', 'nothing', 'ok'],
      ['agent', 'arm0', 'one turn', 'ok'],
      ['agent', 'arm1', 'one turn', 'ok'],
      ['memory', 'arm0 arm1', 'write and recall', 'ok'],
      ['defence', 'arm1', 'build', 'ok'],
    ]);
    expect(asked).toEqual(['user_task 2']);
  });

  it('names what is missing, what to do, and what could not be tried for it', async () => {
    const requires: Requirement[] = [
      { kind: 'package', name: 'no-such-package-of-heams', install: 'no-such-package@1' },
      { kind: 'package', name: 'zod', install: 'zod' },
      { kind: 'variable', name: 'KEY', path: [], role: 'the service' },
      { kind: 'variable', name: 'SET', path: [], role: 'the service' },
      { kind: 'program', name: 'no-such-program-of-heams', path: [] },
    ];
    const never = async (): Promise<never> => Promise.reject(new Error('must not be built'));
    const checks = await look(runOf({ memory: memory({ requires, create: never }) }), { env: { SET: 'hush-hush' } });
    const detail = expect.any(String) as string;
    expect(of(checks, 'memory')).toEqual([
      { check: 'package no-such-package-of-heams', state: 'missing', detail, next: 'npm install no-such-package@1' },
      { check: 'package zod', state: 'ok', detail: expect.stringMatching(/^installed, version \d/) as string },
      { check: 'variable KEY', state: 'missing', detail: 'KEY is not set', next: 'set KEY' },
      { check: 'variable SET', state: 'ok', detail: 'set' },
      { check: 'program no-such-program-of-heams', state: 'missing', detail, next: detail },
      {
        check: 'write and recall',
        state: 'skipped',
        detail: 'needs package no-such-package-of-heams, variable KEY, program no-such-program-of-heams',
      },
    ]);
    expect(JSON.stringify(checks)).not.toContain('hush');
  });

  it('takes a model without a key for missing, and asks one that is there', async () => {
    const checks = await look(
      runOf({ agent: agent({ models: ['openai:gpt'] }) }, { defence: defence({ models: ['builtin:echo'] }) }),
    );
    expect(of(checks, 'agent')[0]).toMatchObject({ check: 'model openai:gpt (a role)', state: 'missing' });
    expect(of(checks, 'defence')[0]).toMatchObject({ check: 'model builtin:echo (a role)', state: 'ok' });
    const [wrong] = of(await look(runOf({ agent: agent({ models: ['opnai:gpt'] }) })), 'agent');
    expect(wrong).toMatchObject({ state: 'failed', next: 'did you mean openai:gpt?' });
  });

  it.each<[string, Partial<Parameters<typeof fakeMemory>[0]>, string]>([
    ['loses what it is given', { scope: { list: async () => [] } }, 'did not keep 2 of 2 facts'],
    ['finds nothing', { scope: { search: async (query) => ({ query, items: [] }) } }, 'found nothing'],
    ['never becomes ready', { scope: { ready: () => new Promise(() => {}) } }, 'not readable 1 s after writing'],
    ['cannot be cleared', { scope: { dispose: () => Promise.reject(new Error('no right')) } }, 'no right'],
    [
      'cannot be opened',
      { open: () => Promise.reject(new HeamsError('refused', { code: 'x', hint: 'mend it' })) },
      'refused',
    ],
  ])('finds a memory that %s', async (_what, faults, said) => {
    const broken = memory({ create: async () => fakeMemory(faults) });
    const [only] = of(await look(runOf({ memory: broken })), 'memory');
    expect(only).toMatchObject({
      check: 'write and recall',
      state: 'failed',
      detail: expect.stringContaining(said) as string,
    });
  });

  it('leaves nothing behind in a memory, and closes it', async () => {
    const fake = fakeMemory();
    const closed: string[] = [];
    await look(
      runOf({ memory: memory({ create: async () => ({ ...fake, close: async () => void closed.push('m') }) }) }),
    );
    expect(fake.opened.length).toBe(1);
    expect(fake.opened[0]).toMatch(/^heams-doctor-/);
    expect(fake.disposed).toEqual(fake.opened);
    expect(closed).toEqual(['m']);
  });

  it('says what it cannot know of memories that keep nothing, or that only their agent sees into', async () => {
    const none = memory({ create: async () => fakeMemory({ capabilities: { stores: false } }) });
    expect(of(await look(runOf({ memory: none })), 'memory')[0]).toMatchObject({
      state: 'ok',
      detail: 'keeps nothing, by design',
    });
    const told: string[] = [];
    const ownMemory: OwnMemory = () => fakeMemory({ capabilities: { external: true } });
    const own = memory({
      ofAgent: true,
      create: async (_options, { agent: its }) => {
        told.push(its?.name ?? '');
        return ownMemory({ telling: () => '', each: 'fact' });
      },
    });
    const [a, b] = [agent({}, 'a'), agent({}, 'b')];
    const checks = await look(runOf({ agent: a, memory: own }, { agent: b, memory: own }));
    expect(of(checks, 'memory').map(({ check, state }) => [check, state])).toEqual([
      ['write and recall (a)', 'ok'],
      ['write and recall (b)', 'ok'],
    ]);
    expect(told).toEqual(['a', 'b']);
  });

  it('finds an agent that does not answer, a defence that cannot be built, and goes on with the rest', async () => {
    const mute = agent({ create: async () => fakeAgent({ respond: () => Promise.reject(new Error('hung up')) }) });
    const checks = await look(
      runOf({
        agent: mute,
        defence: defence({ create: () => Promise.reject(new HeamsError('bad rules', { code: 'x' })) }),
      }),
    );
    expect(
      checks.map(({ part, state, detail }) => [part, state, detail]).filter(([, state]) => state !== 'ok'),
    ).toEqual([
      ['agent', 'failed', 'hung up'],
      ['defence', 'failed', 'bad rules'],
    ]);
  });

  it('skips what leaves the machine where it is told to', async () => {
    const server = (url: string): Requirement => ({ kind: 'server', url, path: [] });
    const away = memory({ create: async () => fakeMemory({ capabilities: { needs_network: true } }) });
    const run = runOf(
      { memory: away, agent: agent({ requires: [server('http://192.0.2.1:9/')] }) },
      { agent: agent({ models: ['openai:gpt'] }) },
    );
    const checks = await look(run, { env: { OPENAI_API_KEY: 'sk-hush' }, offline: true });
    expect(checks.filter(({ state }) => state === 'skipped').map(({ check, detail }) => [check, detail])).toEqual([
      ['server http://192.0.2.1:9/', '--offline'],
      ['one turn', '--offline'],
      ['model openai:gpt (a role)', '--offline'],
      ['write and recall', '--offline'],
    ]);
    expect(checks.some(({ state }) => state === 'failed' || state === 'missing')).toBe(false);
  });

  it('shows no key and no credential of an address, whoever repeats it', async () => {
    const env = { DB: 'postgresql://me:hush%2Fpw@host/db', TOKEN: 'tok-hush-123' };
    const requires: Requirement[] = [
      { kind: 'variable', name: 'DB', path: [], role: 'r' },
      { kind: 'variable', name: 'TOKEN', path: [], role: 'r' },
      { kind: 'server', url: 'unknown://me:hush-url@nowhere/?token=hush-q', path: [] },
    ];
    const told = `cannot log in to ${env.DB} as me with hush/pw, ${env.TOKEN}`;
    const careless = memory({
      requires,
      create: () => Promise.reject(new HeamsError(told, { code: 'x', hint: told })),
    });
    const checks = await look(runOf({ memory: careless }), { env });
    expect(of(checks, 'memory').at(-1)).toMatchObject({
      state: 'failed',
      detail: 'cannot log in to [key] as me with [key], [key]',
    });
    expect(JSON.stringify(checks)).not.toMatch(/hush/);
  });

  it('is given up with its signal', async () => {
    const reason = new Error('stop');
    const host = testHost('/x');
    await expect(examine(runOf({}), { host, offline: false, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});
