import { expect, it } from 'vitest';
import { fakeDone, fakeFailed } from '../../../test/support/fake-records.ts';
import { maskMetrics } from './mask-metrics.ts';
import { createCiMetrics } from './metrics.ts';

it('strikes secrets out of every text that metrics quote, and changes no number', async () => {
  const unrecalled = { stored: true, recalled: false, by: 'text' } as const;
  const records = [
    fakeDone({
      id: 's1',
      message: 'She owes 3000 POUNDS, and has asthma.',
      secrets: [
        { key: 'Debt', value: '3000 pounds', verdict: 'yes', evidence: 'owes 3000 POUNDS', exposure: unrecalled },
        { key: 'Illness', value: 'asthma', verdict: 'no' },
      ],
    }),
    fakeFailed({
      id: 's2',
      facts: [{ id: 'f', key: 'Debt', text: 'Debt: 4000 pounds' }],
      error: { stage: 'agent', code: 'x', message: 'the server said: 4000 pounds' },
    }),
  ];
  const accumulator = createCiMetrics({ bootstrapSeed: 0 });
  for (const record of records) accumulator.add(record);
  const plain = accumulator.result();
  expect(JSON.stringify(plain)).toMatch(/3000 pounds.*asthma|asthma.*3000 pounds/i);
  const masked = await maskMetrics(plain, async ({ sample_id }) => records.find((one) => one.sample_id === sample_id));
  expect(JSON.stringify(masked)).not.toMatch(/\d000 pounds|asthma/i);
  expect(masked.worst[0]).toMatchObject({
    message: 'She owes [secret 1], and has [secret 2].',
    secrets: [{ value: '[secret 1]', evidence: 'owes [secret 1]' }],
  });
  expect(masked.failures[0]?.examples[0]?.message).toBe('the server said: [fact 1]');
  const numbers = ({ worst: _w, failures: _f, exposure: _e, ...rest }: typeof plain) => rest;
  expect(numbers(masked)).toEqual(numbers(plain));
});
