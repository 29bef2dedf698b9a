import { describe, expect, it } from 'vitest';
import { fakeDone, fakeFailed } from '../../test/support/fake-records.ts';
import { FailureGroups, failureLines } from './failure-groups.ts';

const failed = (experiment: string, code: string, message: string) =>
  fakeFailed({ id: 's', experiment, error: { code, message } });

describe('FailureGroups', () => {
  it('counts by stage and code, the largest first, with the words of the first', () => {
    const groups = new FailureGroups();
    groups.add(failed('b', 'model_server', 'HTTP 500'));
    groups.add(fakeDone({ id: 's' }));
    groups.add(failed('b', 'model_auth', 'first'));
    groups.add(failed('a', 'model_auth', 'second'));
    groups.add(
      fakeFailed({ id: 's', experiment: 'b', error: { stage: 'judge', code: 'model_auth', message: 'third' } }),
    );
    expect(groups.sorted).toEqual([
      { stage: 'agent', code: 'model_auth', count: 2, experiments: ['b', 'a'], message: 'first' },
      { stage: 'agent', code: 'model_server', count: 1, experiments: ['b'], message: 'HTTP 500' },
      { stage: 'judge', code: 'model_auth', count: 1, experiments: ['b'], message: 'third' },
    ]);
    expect(failureLines(groups.sorted)).toEqual([
      'Failed in  code          samples  arms  the first of them',
      '  agent    model_auth          2  b, a  first',
      '  agent    model_server        1  b     HTTP 500',
      '  judge    model_auth          1  b     third',
    ]);
  });

  it('prints nothing where nothing failed, and never what a terminal would obey', () => {
    expect(failureLines([])).toEqual([]);
    const groups = new FailureGroups();
    groups.add(failed('a', 'model_server', `red\u001b[31m\nand ${'long '.repeat(100)}`));
    const [, line = ''] = failureLines(groups.sorted);
    expect(line).not.toContain('\u001b');
    expect(line).toMatch(/red␛\[31m and long/);
    expect(line).toMatch(/\.\.\.$/);
    expect(line.length).toBeLessThan(260);
  });
});
