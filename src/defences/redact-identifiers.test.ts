import { describe, expect, it } from 'vitest';
import { fakeMemory, task } from '../../test/support/agent-contract.ts';
import { defenceContract, echoAgent } from '../../test/support/defence-contract.ts';
import { fakeCall } from '../../test/support/fake-call.ts';
import { fakeAgent, fakeReply } from '../../test/support/fake-parts.ts';
import { fakePluginContext } from '../../test/support/plugin-context.ts';
import { redactIdentifiersDefence } from './redact-identifiers.ts';

const make = (more: object = {}) =>
  redactIdentifiersDefence.create(
    redactIdentifiersDefence.schema.parse({ defence: 'redact_identifiers', ...more }),
    fakePluginContext(),
  );
const pool = [
  { id: 'f0', key: 'Mail', text: 'Mail: zoe@example.org' },
  { id: 'f1', key: 'Room', text: 'Room: 12' },
];

for (const acts_on of ['recall', 'message', 'both'] as const) {
  defenceContract(
    `redact_identifiers on ${acts_on}`,
    async () => ({ defence: await make({ acts_on }), asked: () => '' }),
    { filters: acts_on !== 'message', keepsMessage: acts_on === 'recall' },
  );
}

describe('redact_identifiers', () => {
  it('takes identifiers out of what is recalled, and keeps the items as they were back', async () => {
    const guarded = (await make({ acts_on: 'recall' })).guard(echoAgent().agent);
    const reply = await guarded.respond(task, fakeMemory(pool), fakeCall());
    expect(reply.message).toBe('Mail: [e-mail address]\nRoom: 12');
    expect(reply.recalls[0]?.items[0]).toEqual({
      text: 'Mail: [e-mail address]',
      fact_ids: ['f0'],
      rewritten: true,
    });
    expect(reply.recalls[0]?.withheld).toEqual([{ text: 'Mail: zoe@example.org', fact_ids: ['f0'] }]);
    expect(reply.draft).toBeUndefined();
  });

  it('takes them out of the message, and keeps the draft', async () => {
    const agent = fakeAgent({ respond: async () => fakeReply({ message: 'Write to zoe@example.org.' }) });
    const reply = await (await make({ acts_on: 'message' })).guard(agent).respond(task, fakeMemory(), fakeCall());
    expect(reply).toMatchObject({ message: 'Write to [e-mail address].', draft: 'Write to zoe@example.org.' });
  });

  it('looks for the kinds that are named alone', async () => {
    const agent = fakeAgent({ respond: async () => fakeReply({ message: 'zoe@example.org, 4111 1111 1111 1111' }) });
    const defence = await make({ identifiers: ['credit_card'] });
    const reply = await defence.guard(agent).respond(task, fakeMemory(), fakeCall());
    expect(reply.message).toBe('zoe@example.org, [card number]');
  });
});
