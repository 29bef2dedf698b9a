import { describe, expect, it } from 'vitest';
import { fakeMemory, task } from '../../test/support/agent-contract.ts';
import { defenceContract } from '../../test/support/defence-contract.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import { dump } from '../agents/dump.ts';
import { llm } from '../agents/llm.ts';
import type { Agent } from '../contracts/agent.ts';
import { checkTemplate } from '../lib/template.ts';
import { type ScriptedReply, scriptedModel } from '../models/scripted-model.ts';
import { ciCot } from './ci-cot.ts';
import { privacyPrompt } from './privacy-prompt.ts';

const makePrompt = (prompt = 'Mind what {{ recipient }} needs.') =>
  privacyPrompt.create(privacyPrompt.schema.parse({ defence: 'privacy_prompt', prompt }), fakePluginContext());
const cotOptions = {
  defence: 'ci_cot',
  prompt: 'Think, then write between {{ answer_start }} and {{ answer_end }}.',
  retry_prompt: 'Again: {{ answer_start }} and {{ answer_end }}.',
};
const makeCot = (more = {}) => ciCot.create(ciCot.schema.parse({ ...cotOptions, ...more }), fakePluginContext());

async function model(script: readonly ScriptedReply[], strategy: 'inject' | 'none' = 'inject') {
  const scripted = scriptedModel(script);
  const instructions = strategy === 'inject' ? 'You write. {{ memories }}' : 'You write.';
  const options = llm.schema.parse({ model_id: 'builtin:echo', memory_strategy: strategy, instructions });
  const agent: Agent = await llm.create(options, fakePluginContext({ model: scripted }));
  return { agent, scripted };
}

defenceContract('privacy_prompt', async () => ({ defence: await makePrompt(), asked: () => '' }), {
  filters: false,
  keepsMessage: true,
});

describe('privacy_prompt', () => {
  it('stands in the system prompt of a model, after its instructions', async () => {
    const { agent, scripted } = await model(['Hello']);
    const reply = await (await makePrompt()).guard(agent).respond(task, fakeMemory([]), fakeCall());
    expect(scripted.requests[0]?.messages).toEqual([
      { role: 'system', content: 'You write. \n\nMind what the restaurant needs.' },
      ...task.turns,
    ]);
    expect(reply.message).toBe('Hello');
  });

  it('adds no turn where it has nothing to say', async () => {
    const { agent, scripted } = await model(['Hello'], 'none');
    const defence = await makePrompt('{% if recipient == "nobody" %}Mind this.{% endif %}');
    await defence.guard(agent).respond(task, fakeMemory([]), fakeCall());
    expect(scripted.requests[0]?.messages[0]).toEqual({ role: 'system', content: 'You write.' });
  });

  it('moves nothing in an agent that asks no model', async () => {
    const agent = await dump.create({ kind: 'dump' }, fakePluginContext());
    const plain = await agent.respond(task, fakeMemory(), fakeCall());
    expect(await (await makePrompt()).guard(agent).respond(task, fakeMemory(), fakeCall())).toEqual(plain);
  });
});

defenceContract('ci_cot', async () => ({ defence: await makeCot(), asked: () => '' }), {
  filters: false,
  keepsMessage: false,
  says: (message) => `I think.\n<answer>${message.replaceAll('</answer>', '')}</answer>`,
});

describe('ci_cot', () => {
  const answered = async (script: readonly ScriptedReply[], more = {}) => {
    const { agent, scripted } = await model(script);
    const call = fakeCall();
    const reply = await (await makeCot(more)).guard(agent).respond(task, fakeMemory(), call);
    return { reply, requests: scripted.requests, call };
  };

  it('sends the answer alone, and keeps the rest as reasoning', async () => {
    const { reply, call } = await answered([
      'The illness is out of place.\n<answer>\nA table, please.\n</answer>\nDone.',
    ]);
    expect(reply.message).toBe('A table, please.');
    expect(reply.reasoning).toBe('The illness is out of place.\n\nDone.');
    expect(reply.draft).toBeUndefined();
    // The words are the agent's own, and so is their cost.
    expect(call.spent.agent.calls).toBe(1);
    expect(call.spent.defence.calls).toBe(0);
  });

  it.each([
    [
      'the last start mark counts',
      '<answer> is where I write. <answer>Two.</answer>',
      'Two.',
      '<answer> is where I write.',
    ],
    ['what follows the first end is not sent', '<answer>One.</answer> secret </answer>', 'One.', 'secret </answer>'],
    ['nothing may be said', 'Say nothing.<answer></answer>', '', 'Say nothing.'],
  ])('%s', async (_, text, message, reasoning) => {
    expect((await answered([text])).reply).toMatchObject({ message, reasoning });
  });

  it('asks once more in other words, and keeps what the first reply thought and recalled', async () => {
    const { reply, requests } = await answered(['No marks here.', '<answer>Yes.</answer>']);
    expect(requests.map(({ messages }) => messages[0]?.content.split('\n\n').at(-1))).toEqual([
      'Think, then write between <answer> and </answer>.',
      'Again: <answer> and </answer>.',
    ]);
    expect(reply).toMatchObject({ message: 'Yes.', reasoning: 'No marks here.' });
    expect(reply.recalls.length).toBe(2);
  });

  it.each([
    ['no mark at all', 'A table, please.'],
    ['an answer that never ends', 'Hm. <answer>A table'],
    ['marks in the wrong order', '</answer>A table<answer>'],
    ['nothing', ''],
  ])('fails the sample after its attempts: %s', async (_, text) => {
    await expect(answered([text, text])).rejects.toMatchObject({
      code: 'defence_no_answer',
      expected: 'a message between <answer> and </answer>',
      found: 'none in 2 replies',
    });
  });

  it('takes marks of the config, which must differ and be used by both prompts', async () => {
    const marks = { answer_start: '[[SEND', answer_end: 'END]]', attempts: 1 };
    expect((await answered(['x [[SENDhiEND]]'], marks)).reply.message).toBe('hi');
    await expect(answered(['<answer>hi</answer>'], marks)).rejects.toMatchObject({ found: 'none in 1 reply' });
    const same = ciCot.schema.safeParse({ ...cotOptions, answer_start: '###', answer_end: '###' });
    expect(same.error?.issues[0]).toMatchObject({ path: ['answer_end'], message: 'another mark than answer_start' });
    const uses = ciCot.templates?.(ciCot.schema.parse({ ...cotOptions, retry_prompt: 'Again.' }), ['recipient']) ?? [];
    const problems = uses.map(({ source, variables, requires }) => checkTemplate(source, variables, requires).length);
    expect(problems).toEqual([0, 2]);
  });

  it('fails over an agent that asks no model, and says why', async () => {
    const agent = await dump.create({ kind: 'dump' }, fakePluginContext());
    const failing = (await makeCot()).guard(agent).respond(task, fakeMemory(), fakeCall());
    await expect(failing).rejects.toMatchObject({ code: 'defence_no_answer', hint: expect.stringContaining('dump') });
  });
});
