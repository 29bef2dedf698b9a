import { describe, expect, it } from 'vitest';
import { problemOf, problemsOf } from '../../test/support/marked.ts';
import type { PluginBase, Requirement } from '../contracts/plugin.ts';
import { checkRequirements, requirementsOf } from './check-requirements.ts';
import type { Component, Run } from './run.ts';

const variable = (name: string): Requirement => ({ kind: 'variable', name, path: ['key_env'], role: 'the service' });
const absent: Requirement = { kind: 'package', name: 'no-such-package-of-heams', install: 'no-such-package@1' };

function component(name: string, requirements?: Requirement[]): Component {
  return {
    name,
    plugin: { name, ...(requirements ? { requires: () => requirements } : {}) } as unknown as PluginBase<unknown>,
    options: {},
    file: `${name}.yaml`,
    where: (path) => ({ file: `${name}.yaml`, line: path.length + 1, column: 1 }),
  };
}

function runOf(memory: Requirement[], others: { agent?: Requirement[]; defence?: Requirement[] } = {}) {
  const parts = {
    agent: component('agent', others.agent),
    memory: component('memory', memory),
    ...(others.defence ? { defence: component('defence', others.defence) } : {}),
  };
  return {
    benchmark: component('benchmark'),
    arms: [
      { name: 'a', ...parts },
      { name: 'b', ...parts },
    ],
  } as unknown as Pick<Run, 'benchmark' | 'arms'>;
}

describe('checkRequirements', () => {
  it('says nothing where all is there', () => {
    const run = runOf([{ kind: 'package', name: 'zod', install: 'zod' }, variable('KEY')], { agent: [] });
    expect(() => checkRequirements(run, { KEY: 'k' })).not.toThrow();
  });

  it('names a package that is missing where it is asked for, with the command that mends it', async () => {
    expect(await problemOf(() => checkRequirements(runOf([absent]), {}))).toMatchObject({
      code: 'package_not_installed',
      where: { file: 'memory.yaml', line: 1 },
      hint: 'npm install no-such-package@1',
    });
  });

  it.each([undefined, '', ' \n'])('names a variable that is %j, and who needs it', async (value) => {
    const run = runOf([variable('KEY'), variable('OTHER')]);
    const problem = await problemOf(() => checkRequirements(run, { KEY: value, OTHER: 'hush' }));
    expect(problem.describe()).toBe(
      [
        'memory.yaml:2:1: KEY is not set',
        '  expected: KEY in the environment or in a .env file here, for the service',
        '  found:    nothing',
        '  next:     set KEY',
      ].join('\n'),
    );
  });

  it('finds everything at once, in every part of every arm, each part once', async () => {
    const run = runOf([absent, variable('A')], { agent: [variable('B')], defence: [variable('C')] });
    const problems = await problemsOf(() => checkRequirements(run, {}));
    expect(problems.map(({ code, where }) => [code, where?.file])).toEqual([
      ['missing_variable', 'agent.yaml'],
      ['package_not_installed', 'memory.yaml'],
      ['missing_variable', 'memory.yaml'],
      ['missing_variable', 'defence.yaml'],
    ]);
  });

  it('asks no server and starts no program', () => {
    const run = runOf([
      { kind: 'server', url: 'http://192.0.2.1/', path: ['url'] },
      { kind: 'program', name: 'no-such-program', path: ['command'] },
    ]);
    expect(() => checkRequirements(run, {})).not.toThrow();
    expect(requirementsOf(run).map(({ requirement }) => requirement.kind)).toEqual(['server', 'program']);
  });
});
