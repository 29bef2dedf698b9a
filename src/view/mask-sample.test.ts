import { expect, it } from 'vitest';
import { fakeDone } from '../../test/support/fake-records.ts';
import { ciViewer } from '../benchmarks/contextual-integrity/viewer.ts';
import { viewSampleSchema } from '../schema/view.ts';
import { maskOf } from './mask.ts';
import { maskSample } from './mask-sample.ts';

it('masks what was said and nothing that the page goes by, even where a secret is an everyday word', () => {
  const record = fakeDone({
    id: 'judged',
    experiment: 'a',
    message: 'no, a user was judged',
    secrets: [{ key: 'a', value: ['judged', 'user', 'a', 'malformed'], verdict: 'yes', evidence: 'judged' }, 'open'],
    recalls: [{ query: 'a user', items: [{ text: 'judged', fact_ids: ['a'] }], raw: { user: 'judged' } }],
  });
  record.reply?.prompt.push({ role: 'user', content: 'a user' });
  const row = { row: 0, ...ciViewer.row(record) };
  const whole = { version: 1 as const, row, siblings: [row], ...ciViewer.sample(record) };
  const masked = maskSample(whole, maskOf(ciViewer.secrets(record)));
  expect(viewSampleSchema.parse(masked)).toEqual(masked);
  expect(masked.message).toBe('no, [secret 1] [secret 1] w[secret 1]s [secret 1]');
  expect(masked.prompt).toEqual([{ role: 'user', content: '[secret 1] [secret 1]' }]);
  expect(masked.recalls[0]).toEqual({
    query: '[secret 1] [secret 1]',
    items: [{ text: '[secret 1]', fact_ids: ['a'] }],
    raw: { user: '[secret 1]' },
  });
  expect([masked.row.experiment, masked.row.sample_id, masked.items[0]?.key]).toEqual(['a', 'judged', 'a']);
  expect(masked.items[0]?.verdicts[masked.primary ?? '']).toMatchObject({ status: 'judged', evidence: '[secret 1]' });
  expect(masked.items[1]?.verdicts[masked.primary ?? '']).toMatchObject({ status: 'unjudged', reason: 'malformed' });
});
