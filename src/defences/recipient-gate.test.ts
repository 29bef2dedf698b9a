import { describe, expect, it } from 'vitest';
import { facts, fakeMemory, task } from '../../test/support/agent-contract.ts';
import { defenceContract, echoAgent } from '../../test/support/defence-contract.ts';
import { heamsErrorOf } from '../../test/support/errors.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import { makeProject } from '../../test/support/project.ts';
import { loadRun } from '../config/load-run.ts';
import { builtinRegistry } from '../config/registry.ts';
import type { RecallItem } from '../schema/record.ts';
import { recipientGate } from './recipient-gate.ts';
import { wordPattern } from './word-pattern.ts';

const make = (rules: object[], otherwise = 'allow') => {
  const options = recipientGate.schema.parse({ defence: 'recipient_gate', default: otherwise, rules });
  return recipientGate.create(options, fakePluginContext());
};
const noIllness = [{ items: { key: 'illness' }, action: 'deny' }];

async function passing(rules: object[], items: RecallItem[], otherwise = 'allow', variables = {}) {
  const memory = fakeMemory();
  const scope = { ...memory.scope, search: async (query: string) => ({ query, items }) };
  const guarded = (await make(rules, otherwise)).guard(echoAgent().agent);
  const given = { ...task, variables: { ...task.variables, ...variables } };
  const reply = await guarded.respond(given, { ...memory, scope }, fakeCall());
  return reply.recalls[0]?.items.map(({ text }) => text);
}
const fact = (key: string, value: string): RecallItem => ({ text: `${key}: ${value}`, fact_ids: [key] });

defenceContract('recipient_gate', async () => ({ defence: await make(noIllness), asked: () => '' }), {
  filters: true,
  keepsMessage: true,
});

describe('wordPattern', () => {
  it.each([
    ['check in', 'CheckInDate', true],
    ['check in', 'check_in-date', true],
    ['check in', 'checking in', false],
    ['medic*', 'Current medications', true],
    ['medic*', 'paramedic', false],
    ['cafe', 'the Café', true],
    ['blood type', 'type of blood', false],
    ['病院', '私は病院に行く', true],
    ['pin', 'spin', false],
    ['/^(ssn|pin)$/', 'PIN', true],
    ['/\\d{3}-\\d{2}/', 'no 123-45', true],
    ['/', 'a / b', false],
  ])('%s in %s: %s', (pattern, text, expected) => {
    if (pattern === '/') expect(() => wordPattern(pattern)).toThrow('without a letter');
    else expect(wordPattern(pattern)(text)).toBe(expected);
  });
});

describe('recipient_gate', () => {
  it('withholds what a rule denies, and says so in the recall', async () => {
    const guarded = (await make(noIllness)).guard(echoAgent().agent);
    const reply = await guarded.respond(task, fakeMemory(), fakeCall());
    expect(reply.recalls[0]?.withheld).toEqual([{ text: facts[1]?.text, fact_ids: ['f1'] }]);
    expect(reply.message).not.toContain('type-2');
  });

  it('lets the first rule that holds decide, and the default where none does', async () => {
    const rules = [
      { items: { key: 'name', text: 'zoe' }, action: 'allow' },
      { items: { key: ['name', 'age'] }, action: 'deny' },
    ];
    const items = [fact('Name', 'Zoë'), fact('Name', 'Ada'), fact('Age', '7'), fact('Room', '12')];
    expect(await passing(rules, items)).toEqual(['Name: Zoë', 'Room: 12']);
    expect(await passing(rules, items, 'deny')).toEqual(['Name: Zoë']);
  });

  it('holds a rule for the recipients, purposes and domains that it names', async () => {
    const rules = [
      { when: { recipient: ['doctor', '/nurse|clinic/'], domain: 'health*' }, action: 'allow' },
      { items: { key: 'illness' }, action: 'deny' },
    ];
    const items = [fact('Illness', 'flu')];
    const to = (recipient: string, domain: string) => passing(rules, items, 'allow', { recipient, domain });
    expect(await to('my doctor', 'Healthcare')).toEqual(['Illness: flu']);
    expect(await to('the CLINICAL desk', 'Healthcare')).toEqual(['Illness: flu']);
    expect(await to('my doctor', 'Work')).toEqual([]);
    expect(await to('my boss', 'Healthcare')).toEqual([]);
  });

  it('passes an item of several facts only where each of them may', async () => {
    const rules = [{ items: { key: 'name' }, action: 'allow' }];
    const several = { text: 'Zoë, ill', fact_ids: ['Name', 'Illness'] };
    expect(await passing(rules, [several], 'deny')).toEqual([]);
    expect(await passing([{ items: { key: 'illness' }, action: 'deny' }], [several])).toEqual([]);
    expect(await passing(rules, [{ ...several, fact_ids: ['Name', 'Full name'] }], 'deny')).toEqual(['Zoë, ill']);
  });

  it('takes each line of text without a source for a fact of its own', async () => {
    const page = { text: '# notes\nName: Zoë\nIllness: flu', fact_ids: [] };
    expect(await passing(noIllness, [page])).toEqual([]);
    expect(await passing([{ items: { key: 'name' }, action: 'allow' }], [page], 'deny')).toEqual([]);
    expect(await passing(noIllness, [{ text: 'Name: Zoë', fact_ids: [] }])).toEqual(['Name: Zoë']);
    // One fact of several lines is one fact, by its id.
    const chat = { text: 'Chat: Mum: hello\nIllness: no', fact_ids: ['Chat'] };
    expect(await passing(noIllness, [chat])).toEqual([chat.text]);
  });

  it('does not take a rule’s name for a part of what it does', () => {
    const named = (name?: string) =>
      recipientGate.identity?.(
        recipientGate.schema.parse({
          defence: 'recipient_gate',
          name,
          default: 'allow',
          rules: [{ ...(name ? { name } : {}), items: { key: 'a' }, action: 'deny' }],
        }),
      );
    expect(named('x')).toEqual(named());
  });
});

describe('a gate file', () => {
  const run = (defence: string) => ({
    'configs/benchmarks/b.yaml':
      'benchmark: contextual_integrity\ndataset: { bundled: heams_scenarios }\nuser_task_prompt: "{{ user_task }}"\nevaluator: { type: ci_string_match }\n',
    'configs/agents/dump.yaml': 'kind: dump\n',
    'configs/memory/full.yaml': 'backend: full_context\n',
    'configs/defences/gate.yaml': defence,
    'configs/runs/r.yaml':
      'name: r\nbenchmark_config_file: b.yaml\nmatrix: { agents: [dump.yaml], memories: [full.yaml], defences: [none, gate.yaml] }\n',
  });
  const problem = async (defence: string) => {
    const project = await makeProject(run(defence));
    try {
      return (await heamsErrorOf(loadRun(project.path('configs/runs/r.yaml'), builtinRegistry))).describe();
    } finally {
      await project.remove();
    }
  };
  const head = 'defence: recipient_gate\ndefault: allow\nrules:\n';

  it.each([
    [
      '  - { items: { key: "/(a+/" }, action: deny }\n',
      /gate\.yaml:4:21: .*\n.*a "\(" without its "\)", at character 4/,
    ],
    ['  - { items: { text: ["ok", "/(?=x)/"] }, action: deny }\n', /gate\.yaml:4:29: .*\n.*look-around/],
    [
      '  - { when: { recipent: boss }, action: deny }\n',
      /gate\.yaml:4:25: unknown template variable "recipent"[\s\S]*did you mean "recipient"/,
    ],
    ['  - { action: deny }\n', /gate\.yaml:4:5: [\s\S]*what no rule names is for "default"/],
    ['  - { items: {}, action: deny }\n', /gate\.yaml:4:14: [\s\S]*key, text or both/],
    ['  - { items: { key: a }, action: refuse }\n', /gate\.yaml:4:34: [\s\S]*one of: allow, deny/],
  ])('with %j is refused where it is wrong', async (rule, expected) => {
    expect(await problem(head + rule)).toMatch(expected);
  });

  it('makes an arm of every agent and memory beside the one without it', async () => {
    const project = await makeProject(run(`${head}  - { items: { key: a }, action: deny }\n`));
    try {
      const { arms } = await loadRun(project.path('configs/runs/r.yaml'), builtinRegistry);
      expect(arms.map(({ name }) => name)).toEqual(['dump-full', 'dump-full-gate']);
    } finally {
      await project.remove();
    }
  });

  it('is refused before a memory that belongs to its agent', async () => {
    const files = {
      ...run(`${head}  - { items: { key: a }, action: deny }\n`),
      'configs/memory/full.yaml': 'backend: own_memory\ntelling: "{{ facts | json }}"\n',
    };
    const project = await makeProject(files);
    try {
      const error = await heamsErrorOf(loadRun(project.path('configs/runs/r.yaml'), builtinRegistry));
      expect(error).toMatchObject({ code: 'defence_cannot_filter', where: { line: 3 } });
      expect(error.message).toBe('the defence "gate" cannot filter the memory "full", which is its agent\'s own');
    } finally {
      await project.remove();
    }
  });
});
