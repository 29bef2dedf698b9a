import { describe, expect, it } from 'vitest';
import { facts, fakeMemory, task } from '../../test/support/agent-contract.ts';
import { defenceContract, echoAgent } from '../../test/support/defence-contract.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { startLoopback } from '../../test/support/loopback-chat.ts';
import { testFactory } from '../../test/support/model-factory.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import { silent } from '../agents/silent.ts';
import { scriptedModel } from '../models/scripted-model.ts';
import { flowCheck } from './flow-check.ts';

const oneCall = {
  defence: 'flow_check',
  model_id: 'builtin:scripted',
  extract_system_prompt: 'Extract.',
  extract_user_prompt: 'For {{ recipient }}:\n{{ items }}',
  advice_prompt: '{% for flow in flows %}{{ flow.attribute }}: {{ flow.appropriate }}. {% endfor %}',
  repair_prompt: 'Wrong: {{ problem }}.',
};
const twoCalls = { ...oneCall, judge_system_prompt: 'Judge.', judge_user_prompt: 'The flows:\n{{ flows }}' };
const item = (i: number) => ({ text: facts[i]?.text ?? '', fact_ids: [`f${i}`] });

const flow = (number: number, attribute: string) => ({
  item: number,
  sender: 'user',
  recipient: 'the restaurant',
  subject: 'user',
  attribute,
  transmission_principle: 'none',
});
const judged = (number: number, attribute: string, appropriate: boolean) => ({
  ...flow(number, attribute),
  reason: 'It is so.',
  appropriate,
});
const flows = (...list: object[]) => JSON.stringify({ flows: list });
const nameFits = flows(judged(1, 'name', true), judged(2, 'illness', false), judged(3, 'illness', false));

async function make(script: Parameters<typeof scriptedModel>[0], given: object = oneCall) {
  const model = scriptedModel(script);
  const defence = await flowCheck.create(flowCheck.schema.parse(given), fakePluginContext({ model }));
  return { defence, model };
}

for (const on_inappropriate of ['advise', 'withhold']) {
  defenceContract(
    `flow_check, ${on_inappropriate}`,
    async () => {
      const { defence, model } = await make(
        (request) => {
          const count = request.messages.at(-1)?.content.match(/"number":/g)?.length ?? 0;
          return flows(...Array.from({ length: count }, (_, i) => judged(i + 1, 'any', true)));
        },
        { ...oneCall, on_inappropriate },
      );
      return { defence, asked: () => JSON.stringify(model.requests).replace(/^\[\]$/, '') };
    },
    { filters: true, keepsMessage: true },
  );
}

describe('flow_check', () => {
  it('advises the agent, which sees everything', async () => {
    const { defence, model } = await make([nameFits]);
    const { agent, seen } = echoAgent();
    const call = fakeCall();
    const reply = await defence.guard(agent).respond(task, fakeMemory(), call);
    expect(seen[0]?.task.turns[0]).toEqual({
      role: 'system',
      content: 'name: true. illness: false. illness: false. ',
    });
    expect(reply.recalls).toEqual([{ query: 'book a table', requested_k: 5, items: [item(0), item(1), item(2)] }]);
    expect(model.requests.length).toBe(1);
    expect(call.spent.defence.calls).toBe(1);
  });

  it('judges in a second call where there is a prompt for it', async () => {
    const verdicts = { verdicts: [2, 1, 3].map((n) => ({ flow: n, reason: 'r', appropriate: n === 1 })) };
    const extracted = flows(flow(1, 'name'), flow(2, 'illness'), flow(3, 'mood'));
    const { defence, model } = await make([extracted, JSON.stringify(verdicts)], twoCalls);
    const { agent, seen } = echoAgent();
    await defence.guard(agent).respond(task, fakeMemory(), fakeCall());
    expect(seen[0]?.task.turns[0]?.content).toBe('name: true. illness: false. mood: false. ');
    expect(model.requests[1]?.messages.map(({ content }) => content)).toEqual([
      'Judge.',
      `The flows:\n${[flow(1, 'name'), flow(2, 'illness'), flow(3, 'mood')]
        .map((one, i) => JSON.stringify({ number: i + 1, ...one }))
        .join('\n')}`,
    ]);
  });

  it('withholds an item with any flow that does not fit, and speaks of the rest alone', async () => {
    const mixed = flows(
      judged(1, 'name', true),
      judged(2, 'illness', false),
      judged(3, 'greeting', true),
      judged(3, 'illness', false),
    );
    const { defence, model } = await make([mixed], { ...oneCall, on_inappropriate: 'withhold' });
    const { agent, seen } = echoAgent();
    const reply = await defence.guard(agent).respond(task, fakeMemory(), fakeCall());
    expect(reply.message).toBe('Name: Zoë Müller');
    expect(reply.recalls).toEqual([
      { query: 'book a table', requested_k: 5, items: [item(0)], withheld: [item(1), item(2)] },
    ]);
    expect(seen[0]?.task.turns[0]?.content).toBe('name: true. ');
    // The agent's own search finds the same, so nothing is asked twice.
    expect(model.requests.length).toBe(1);
  });

  it('judges what a tool of the memory shows later, before the agent sees it', async () => {
    const memory = fakeMemory(facts.slice(0, 1));
    const run = async () => ({ content: 'all of it', recall: { query: 'again', items: [item(0), item(1)] } });
    const tools = [{ spec: { name: 'view', description: '', inputSchema: {} }, run }];
    const script = [flows(judged(1, 'name', true)), flows(judged(1, 'illness', false))];
    const { defence, model } = await make(script, { ...oneCall, on_inappropriate: 'withhold' });
    const guarded = defence.guard(echoAgent().agent);
    const reply = await guarded.respond(task, { ...memory, scope: { ...memory.scope, tools } }, fakeCall());
    expect(reply.message).toBe('Name: Zoë Müller\n- Name: Zoë Müller');
    expect(model.requests[1]?.messages[1]?.content).toBe(
      'For the restaurant:\n{"number":1,"text":"Illness: type-2 diabetes"}',
    );
  });

  it('records what advice told an agent that does not search itself', async () => {
    const agent = await silent.create({ kind: 'silent' }, fakePluginContext());
    const { defence } = await make([nameFits]);
    const reply = await defence.guard(agent).respond(task, fakeMemory(), fakeCall());
    expect(reply.recalls[0]?.items).toEqual([item(0), item(1), item(2)]);
  });

  it('asks nothing and says nothing where nothing is recalled', async () => {
    const { defence, model } = await make([]);
    const { agent, seen } = echoAgent();
    const reply = await defence.guard(agent).respond(task, fakeMemory([]), fakeCall());
    expect(seen[0]?.task.turns).toEqual(task.turns);
    expect(reply.recalls[0]?.items).toEqual([]);
    expect(model.requests).toEqual([]);
  });

  it.each([
    ['an item without a flow', flows(judged(1, 'name', true), judged(3, 'x', true)), 'item 2 has no flow'],
    ['an item that there is not', flows(judged(4, 'x', true)), 'there is no item 4; the items are 1 to 3'],
    ['a flow that is not judged', flows(flow(1, 'x'), flow(2, 'x'), flow(3, 'x')), 'expected boolean'],
  ])('asks again about %s, then fails', async (_, text, problem) => {
    const { defence, model } = await make([text, nameFits]);
    await defence.guard(echoAgent().agent).respond(task, fakeMemory(), fakeCall());
    expect(model.requests[1]?.messages.at(-1)?.content).toContain(problem);
    const failing = await make([text, text, text]);
    await expect(
      failing.defence.guard(echoAgent().agent).respond(task, fakeMemory(), fakeCall()),
    ).rejects.toMatchObject({ code: 'defence_unreadable' });
  });

  it('wants one verdict for each flow', async () => {
    const extracted = flows(flow(1, 'a'), flow(2, 'b'), flow(3, 'c'));
    const twice = JSON.stringify({ verdicts: [1, 1, 3].map((n) => ({ flow: n, reason: '', appropriate: true })) });
    const { defence, model } = await make([extracted, twice, twice, twice], twoCalls);
    const failing = defence.guard(echoAgent().agent).respond(task, fakeMemory(), fakeCall());
    await expect(failing).rejects.toMatchObject({ code: 'defence_unreadable' });
    expect(model.requests[2]?.messages.at(-1)?.content).toBe('Wrong: at "verdicts": flow 1 has 2 verdicts, not one.');
  });

  it('takes both prompts of the judge, or neither', () => {
    const half = { ...oneCall, judge_user_prompt: '{{ flows }}' };
    expect(flowCheck.schema.safeParse(half).error?.issues[0]?.message).toContain('or neither');
  });

  it('works through the real client', async () => {
    const server = await startLoopback({ answer: () => nameFits });
    const factory = testFactory();
    try {
      const settings = { model_id: 'openai-compatible:small', base_url: `${server.url}/v1` };
      const context = { ...fakePluginContext(), model: async () => factory.chat(settings) };
      const given = flowCheck.schema.parse({ ...oneCall, ...settings, on_inappropriate: 'withhold' });
      const call = fakeCall();
      const reply = await (await flowCheck.create(given, context))
        .guard(echoAgent().agent)
        .respond(task, fakeMemory(), call);
      expect(reply.message).toBe('Name: Zoë Müller');
      expect(call.spent.defence.calls).toBe(1);
    } finally {
      await factory.close();
      await server.close();
    }
  });
});
