import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { agentContract, fakeMemory, task } from '../../test/support/agent-contract.ts';
import { childModule } from '../../test/support/child-module.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { memoryContract } from '../../test/support/memory-contract.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import type { Agent } from '../contracts/agent.ts';
import type { PluginContext } from '../contracts/plugin.ts';
import { systemClock } from '../lib/clock.ts';
import type { AgentRequest } from '../schema/agent-protocol.ts';
import { agentRequestSchema } from '../schema/agent-protocol.ts';
import { command } from './command.ts';

const program = join(import.meta.dirname, '../../test/support/misbehaving-agent.mjs');
const env = { PATH: process.env.PATH, AGENT_KEY: 'key-in-the-environment', OTHER_KEY: 'not for this program' };
const context: PluginContext = { ...fakePluginContext(), clock: systemClock, env, resolve: () => tmpdir() };

const opened: Agent[] = [];
afterAll(async () => {
  await Promise.all(opened.map((agent) => agent.close?.()));
});

async function agentOf(file: object = {}, given = context): Promise<Agent> {
  const options = { kind: 'command', command: process.execPath, args: [program], memory_strategy: 'none', ...file };
  const agent = await command.create(command.schema.parse(options), given);
  opened.push(agent);
  return agent;
}

const saying = (content: string) => ({ ...task, turns: [{ role: 'user' as const, content }] });
const ask = (agent: Agent, content: string, call = fakeCall()) => agent.respond(saying(content), fakeMemory(), call);
const message = async (agent: Agent, content: string) => (await ask(agent, content)).message;

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
async function isAlive(pid: number): Promise<boolean> {
  // One that is dead and that nobody has asked about yet still has a number.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ' R ');
  return isThere(pid) && !/\) Z /.test(stat);
}
async function gone(pid: number): Promise<void> {
  while (await isAlive(pid)) await systemClock.sleep(10);
}

for (const [strategy, searches] of [
  ['none', 0],
  ['inject', 1],
  ['tool', 1],
] as const) {
  agentContract(`command, ${strategy}`, () => agentOf({ memory_strategy: strategy }), { seesLabels: false, searches });
}

const ownMemory = async (workers: number) => {
  const agent = await agentOf({ workers });
  if (!agent.ownMemory) throw new Error('memory_strategy: none has its own memory');
  return agent.ownMemory({ telling: (facts) => facts.map(({ text }) => text).join('\n'), each: 'session' });
};
memoryContract('own memory of a command', () => ownMemory(2), {
  capabilities: {
    stores: false,
    rewrites: true,
    provenance: false,
    honours_k: false,
    needs_network: false,
    needs_key: false,
    external: true,
  },
});

describe('a program', () => {
  it('is sent requests of the protocol, a line each', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'heams-'));
    const log = join(folder, 'log');
    const given = { ...context, env: { ...env, AGENT_LOG: log } };
    const agent = await agentOf({ memory_strategy: 'inject', env: ['AGENT_LOG'], variables: ['recipient'] }, given);
    await agent.respond(task, fakeMemory(undefined, 1), fakeCall());
    const request = agentRequestSchema.parse(JSON.parse(await readFile(log, 'utf8')));
    await rm(folder, { recursive: true });
    expect(request).toEqual({
      protocol: 1,
      id: expect.any(String),
      type: 'respond',
      scope: 'scope0',
      turns: [...task.turns],
      memories: ['Name: Zoë Müller'],
      variables: { recipient: 'the restaurant' },
    } satisfies AgentRequest);
  });

  it('gets the variables that its file names, and no other', async () => {
    const names = (await message(await agentOf({ env: ['AGENT_KEY'] }), 'shows its environment')).split(' ');
    expect(names).toEqual(expect.arrayContaining(['AGENT_KEY', 'HEAMS_FRAME', 'HEAMS_PROTOCOL', 'PATH']));
    expect(names).not.toContain('OTHER_KEY');
    await expect(agentOf({ env: ['MISSING'] })).rejects.toMatchObject({ code: 'missing_variable' });
  });

  it.each(['lines', 'json', 'half line', 'token', 'half token', 'megabyte', 'binary', 'carriage returns'])(
    'may print anything beside its replies: %s',
    async (chatter) => {
      const agent = await agentOf();
      for (let i = 0; i < 3; i++) expect(await ask(agent, chatter)).toMatchObject({ message: 'heard', warnings: [] });
    },
  );

  it('may answer with megabytes', async () => {
    expect((await message(await agentOf(), 'answers 5 megabytes')).length).toBe(5 * 1024 * 1024);
  });

  it('runs in as many processes as it is told, in turn within each', async () => {
    const agent = await agentOf({ workers: 3 });
    const one = await Promise.all(Array.from({ length: 12 }, () => message(agent, 'says who it is')));
    expect(new Set(one).size).toBe(3);
    // One after the other, the first is enough.
    const alone = [await message(agent, 'says who it is'), await message(agent, 'says who it is')];
    expect(new Set(alone).size).toBe(1);
  });

  it('may have several requests open at once and answer out of turn', async () => {
    const agent = await agentOf({ requests_per_worker: 2 });
    const order: string[] = [];
    const note = async (what: string) => {
      order.push(await message(agent, what));
    };
    await Promise.all([note('answers late'), note('lines')]);
    expect(order).toEqual(['heard', 'late']);
  });
});

describe('a program that goes wrong', () => {
  it.each([
    ['dies', 'agent_died', /ended with exit code 7/],
    ['is killed', 'agent_died', /ended by SIGKILL/],
    ['answers another id', 'agent_bad_reply', /an id that no open request has; it begins: \{"id":"other"/],
    ['answers without an id', 'agent_bad_reply', /no "id"/],
    ['answers with a number', 'agent_bad_reply', /wrong at message/],
    ['answers an unknown key', 'agent_bad_reply', /mesage/],
    ['answers a list', 'agent_bad_reply', /no "id"; it begins: \[1\]/],
    ['answers broken JSON', 'agent_bad_reply', /not JSON; it begins: \{"id": ".*", "message": "␛\[31mhalf/],
    ['answers two frames in one line', 'agent_bad_reply', /not JSON/],
    ['answers bad UTF-8', 'agent_bad_reply', /not UTF-8/],
    ['answers too much', 'agent_reply_too_large', /8388608/],
  ])('fails the sample that it was asked for, and answers the next: %s', async (what, code, story) => {
    const agent = await agentOf();
    const lost = ask(agent, what);
    await expect(lost).rejects.toMatchObject({ code });
    await expect(lost).rejects.toThrow(story);
    expect(await message(agent, 'lines')).toBe('heard');
  });

  it('is ended at the deadline, with what it printed in the error, and started again', async () => {
    const agent = await agentOf({ timeout_s: 1 });
    const before = await message(agent, 'says who it is');
    await expect(ask(agent, 'hangs')).rejects.toMatchObject({
      code: 'agent_timeout',
      message: 'agent "command": no answer within 1 s; its stderr ends: thinking',
    });
    await gone(Number(before));
    expect(await message(agent, 'says who it is')).not.toBe(before);
    await expect(ask(agent, 'forgets the end of its frame')).rejects.toThrow('it began a frame and did not end it');
  });

  it('that answers twice is started again, and the next reply says so', async () => {
    const agent = await agentOf();
    const [first, next] = [await ask(agent, 'answers twice'), await ask(agent, 'lines')];
    expect([first.message, next.message]).toEqual(['first', 'heard']);
    // The second answer may be noticed before the first is handed on.
    const warnings = [...first.warnings, ...next.warnings];
    expect(warnings).toEqual([expect.stringMatching(/started again: .* an id that no open request has/)]);
    expect((await ask(agent, 'lines')).warnings).toEqual([]);
  });

  it('may end after an answer: the next request starts another', async () => {
    const agent = await agentOf();
    const pid = Number(await message(agent, 'says who it is'));
    expect(await message(agent, 'answers and ends')).toBe('last words');
    // Gone from the system's table: this process has been told of it.
    while (isThere(pid)) await systemClock.sleep(10);
    expect(await message(agent, 'lines')).toBe('heard');
  });

  it('that never answers is started five times and no more, and the errors hold no key', async () => {
    const agent = await agentOf({ args: [program, 'die'], env: ['AGENT_KEY'] });
    for (let i = 0; i < 5; i++) await expect(ask(agent, 'lines')).rejects.toThrow(/cannot start with key \[key\]/);
    await expect(ask(agent, 'lines')).rejects.toThrow(
      /it ended 5 times in a row without an answer; the last time: .* exit code 3; its stderr ends: cannot start/,
    );
    const says = ask(await agentOf({ env: ['AGENT_KEY'] }), 'says the key');
    await expect(says).rejects.toThrow(/begins: \{"id": ".*", \[key\]/);
  });

  it('that is not there is named', async () => {
    await expect(ask(await agentOf({ command: 'no-such-program-here' }), 'lines')).rejects.toThrow(
      'agent "command": no-such-program-here: it could not be started (ENOENT)',
    );
  });

  it('fails the requests that were open beside the one that went wrong', async () => {
    const agent = await agentOf({ requests_per_worker: 2 });
    const both = await Promise.allSettled([ask(agent, 'answers late'), ask(agent, 'dies')]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await message(agent, 'lines')).toBe('heard');
  });
});

describe('the processes of a program', () => {
  it('end when the call is given up', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'heams-'));
    const log = join(folder, 'log');
    const agent = await agentOf({ env: ['AGENT_LOG'] }, { ...context, env: { ...env, AGENT_LOG: log } });
    const pid = Number(await message(agent, 'says who it is'));
    const control = new AbortController();
    const given = expect(ask(agent, 'hangs', fakeCall({ signal: control.signal }))).rejects.toThrow('given up');
    while (!(await readFile(log, 'utf8')).includes('hangs')) await systemClock.sleep(10);
    control.abort(new Error('given up'));
    await given;
    await gone(pid);
    await rm(folder, { recursive: true });
  });

  it('end with the agent, and so does what they started, although it holds their output open', async () => {
    const agent = await agentOf();
    const pid = Number(await message(agent, 'says who it is'));
    const other = Number(await message(agent, 'starts another'));
    await agent.close?.();
    await gone(pid);
    await gone(other);
    await expect(ask(agent, 'lines')).rejects.toThrow('it was closed');
  });

  it('end although they do not listen', async () => {
    const agent = await agentOf({ args: [program, 'deaf'] });
    const lost = ask(agent, 'lines');
    const failed = expect(lost).rejects.toMatchObject({ code: 'agent_died' });
    await systemClock.sleep(100);
    await agent.close?.();
    await failed;
  });

  it.skipIf(process.platform === 'win32')('end when HEAMS is killed, although they hang', async () => {
    const child = childModule(`
      import { CommandWorker } from './src/agents/command-worker.ts';
      import { systemClock } from './src/lib/clock.ts';
      const worker = new CommandWorker({
        name: 'a', command: process.execPath, args: ['-e', 'console.error(process.pid); for (;;);'], cwd: '.',
        env: {}, clock: systemClock, redact: (text) => text, onFault() {},
      });
      worker.ask('1', '{}').catch(() => {});
      for (;;) {
        const pid = /[0-9]+/.exec(worker.printed());
        if (pid) { console.log(pid[0]); break; }
        await systemClock.sleep(20);
      }
    `);
    const pid = Number(await child.line());
    expect(await isAlive(pid)).toBe(true);
    await child.kill();
    await gone(pid);
  });
});

describe('the own memory of a program', () => {
  const facts = (name: string) => [{ id: 'f0', key: 'Name', text: `Name: ${name}` }];
  const primed = async (backend: Awaited<ReturnType<typeof ownMemory>>, id: string, name = id) => {
    const scope = await backend.open(id, fakeCall());
    await scope.write(facts(name));
    return scope;
  };

  it('keeps each scope with the process that was told it, however many are open', async () => {
    const agent = await agentOf({ workers: 3 });
    const backend = agent.ownMemory?.({ telling: ([fact]) => fact?.text ?? '', each: 'fact' });
    if (!backend) throw new Error('no own memory');
    const ids = Array.from({ length: 30 }, (_, i) => `scope-${i}`);
    const scopes = await Promise.all(ids.map((id) => primed(backend, id)));
    const replies = await Promise.all(
      ids.map((scopeId) =>
        agent.respond(task, { ...fakeMemory(), scopeId, capabilities: backend.capabilities }, fakeCall()),
      ),
    );
    expect(replies.map((reply) => reply.message)).toEqual(ids.map((id) => `Name: ${id}`));
    await Promise.all(scopes.map((scope) => scope.dispose()));
    const again = await backend.open('scope-0', fakeCall());
    const memory = { ...fakeMemory(), scopeId: 'scope-0', capabilities: backend.capabilities };
    expect((await agent.respond(task, memory, fakeCall())).message).toBe('');
    await again.dispose();
  });

  it('is lost with its process: the task fails and is not asked of one that knows nothing', async () => {
    const agent = await agentOf();
    const backend = agent.ownMemory?.({ telling: ([fact]) => fact?.text ?? '', each: 'fact' });
    if (!backend) throw new Error('no own memory');
    const scope = await primed(backend, 'a');
    await expect(ask(agent, 'dies')).rejects.toMatchObject({ code: 'agent_died' });
    const memory = { ...fakeMemory(), scopeId: 'a', capabilities: backend.capabilities };
    await expect(agent.respond(task, memory, fakeCall())).rejects.toThrow(
      /the process that was told the facts of this scope is gone: .*exit code 7/,
    );
    await scope.dispose();
    const fresh = await primed(backend, 'a', 'again');
    expect((await agent.respond(task, memory, fakeCall())).message).toBe('Name: again');
    await fresh.dispose();
  });
});
