import { expect, it } from 'vitest';
import { ciSample } from '../../../test/support/ci-sample.ts';
import { wilsonInterval } from '../../stats/wilson.ts';
import type { AuditOutcome } from './audit-judge.ts';
import { auditResults } from './audit-judge-summary.ts';

const messages = (cluster: string, right: number, of: number, truth: boolean): AuditOutcome[] =>
  Array.from({ length: of }, (_, n) => ({
    case: {
      sample: { ...ciSample(), id: cluster, cluster },
      item: { side: 'secret', index: 0 },
      key: 'k',
      kind: truth ? 'verbatim' : 'absent',
      truth,
      message: '',
    },
    verdicts: { judge: { status: 'judged', value: n < right ? truth : !truth } },
  }));

it('gives sensitivity and specificity Wilson over the effective number of messages, by hand', () => {
  const outcomes = [2, 2, 0, 1].flatMap((right, i) => messages(`c${i}`, right, 2, true));
  const clean = ['a', 'b', 'c'].flatMap((cluster) => messages(cluster, 5, 5, false));
  const side = auditResults([...outcomes, ...clean], ['judge'])[0]?.sides[0];
  // p = 5/8; residuals 3/4, 3/4, -5/4, -1/4; variance (4/3)(11/4)/64 = 11/192, binomial (15/64)/8: size 45/11.
  const { low, high } = wilsonInterval((5 / 8) * (45 / 11), 45 / 11);
  expect(side?.sensitivity).toMatchObject({
    ...{ value: 5 / 8, numerator: 5, denominator: 8, bounds: { low: 5 / 8, high: 5 / 8 } },
    interval: { low: expect.closeTo(low, 12), high: expect.closeTo(high, 12), method: 'cluster_wilson' },
  });
  // Three clusters that are right throughout count once each.
  expect(side?.specificity).toMatchObject({
    interval: { ...wilsonInterval(3, 3), method: 'cluster_wilson' },
  });
});
