import { describe, expect, it } from 'vitest';
import { fakeDone, fakeFailed } from '../../test/support/fake-records.ts';
import type { SampleRecord } from '../schema/record.ts';
import { RefusalWatch } from './refusal-watch.ts';

const done = (experiment: string): SampleRecord => ({ ...fakeDone({ id: 's' }), experiment });
const failed = (experiment: string, code: string): SampleRecord => {
  const record = fakeFailed({ id: 's' });
  if (record.status !== 'failed') return expect.unreachable();
  return { ...record, experiment, error: { stage: 'agent', code, message: 'HTTP 401: no such key' } };
};
/** How many records are seen until the watch says to stop; nothing where it never does. */
function stopsAt(records: readonly SampleRecord[]): number | undefined {
  const watch = new RefusalWatch();
  const at = records.findIndex((record) => watch.see(record) !== undefined);
  return at < 0 ? undefined : at + 1;
}
const times = (count: number, record: SampleRecord) => Array<SampleRecord>(count).fill(record);

describe('RefusalWatch', () => {
  it.each(['model_auth', 'model_quota', 'model_not_found', 'agent_auth', 'memory_auth', 'memory_auth_failed'])(
    'stops at the fifth %s in a row, with the first words of it',
    (code) => {
      expect(stopsAt(times(9, failed('a', code)))).toBe(5);
      const watch = new RefusalWatch();
      const [error] = times(5, failed('a', code)).flatMap((record) => watch.see(record) ?? []);
      expect(error?.message).toBe(`5 samples in a row of a were refused (${code}): HTTP 401: no such key`);
    },
  );

  it('never stops for what may pass, or may be one sample’s own', () => {
    for (const code of ['model_rate_limit', 'model_server', 'model_bad_request', 'internal']) {
      expect(stopsAt(times(50, failed('a', code)))).toBeUndefined();
    }
  });

  it('begins anew after a success, another failure, or another refusal', () => {
    const four = times(4, failed('a', 'model_auth'));
    for (const between of [done('a'), failed('a', 'model_server')]) {
      expect(stopsAt([...four, between, ...four])).toBeUndefined();
      expect(stopsAt([...four, between, ...four, failed('a', 'model_auth')])).toBe(10);
    }
    expect(stopsAt([...four, ...times(5, failed('a', 'model_quota'))])).toBe(9);
  });

  it('counts each arm by itself', () => {
    const turns = times(4, failed('a', 'model_auth')).flatMap((record) => [
      record,
      done('b'),
      failed('c', 'model_auth'),
    ]);
    expect(stopsAt(turns)).toBeUndefined();
    expect(stopsAt([...turns, done('b'), failed('c', 'model_auth')])).toBe(turns.length + 2);
  });
});
