import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ItemVerdict, itemVerdictSchema, type ScoreVerdict, scoreVerdictSchema } from '../../schema/ci-grade.ts';
import { majorityJudgement, majorityScore, majorityVerdict } from './judge-majority.ts';

const open = { status: 'unjudged', reason: 'malformed', detail: 'prose', raw: 'hm', attempts: 3 } as const;
const vote = (letter: string): ItemVerdict => (letter === '?' ? open : { status: 'judged', value: letter === 'y' });
const votes = (letters: string) => [...letters].map(vote);
const scores = (digits: string) =>
  [...digits].map(
    (digit): ScoreVerdict => (digit === '?' ? open : { status: 'judged', value: Number(digit) as 0 | 1 | 2 | 3 }),
  );

describe('majorityVerdict', () => {
  it.each([
    ['yyn', true],
    ['nny', false],
    ['yy?', true],
    ['nn?', false],
    ['yy', true],
    ['yn', 'tie'],
    ['yynn', 'tie'],
    ['yn?', 'too_few'],
    ['y?', 'too_few'],
    ['y??', 'too_few'],
    ['???', 'too_few'],
    ['yynn?', 'too_few'],
    ['yyyn?', true],
  ])('of %s is %s', (letters, expected) => {
    const verdict = itemVerdictSchema.parse(majorityVerdict(votes(letters)));
    expect(verdict.status === 'judged' ? verdict.value : verdict.reason).toBe(expected);
  });

  it('is never overturned by a missing vote, and does not care about the order', () => {
    const letters = fc.array(fc.constantFrom('y', 'n', '?'), { minLength: 1, maxLength: 7 });
    fc.assert(
      fc.property(letters, fc.constantFrom('y', 'n'), (panel, late) => {
        const before = majorityVerdict(votes(panel.join('')));
        expect(majorityVerdict(votes([...panel].reverse().join('')))).toEqual(before);
        const after = majorityVerdict(votes(panel.map((letter) => (letter === '?' ? late : letter)).join('')));
        if (before.status === 'judged') expect(after).toMatchObject({ status: 'judged', value: before.value });
      }),
    );
  });
});

describe('majorityScore', () => {
  it.each([
    ['123', 2],
    ['333', 3],
    ['003', 0],
    ['23', 2],
    ['12', 'tie'],
    ['2?3', 2],
    ['1?0', 0],
    ['1?2', 'too_few'],
    ['1122', 'tie'],
  ])('of %s with threshold 2 is %s', (digits, expected) => {
    const verdict = scoreVerdictSchema.parse(majorityScore(scores(digits), 2));
    expect(verdict.status === 'judged' ? verdict.value : verdict.reason).toBe(expected);
  });

  it('is helpful just when most of the panel find it so', () => {
    const digits = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 7 });
    fc.assert(
      fc.property(digits, fc.constantFrom(1 as const, 2 as const, 3 as const), (panel, threshold) => {
        const verdict = majorityScore(scores(panel.join('')), threshold);
        const helpful = panel.filter((score) => score >= threshold).length;
        const expected = helpful * 2 === panel.length ? 'open' : helpful * 2 > panel.length;
        expect(verdict.status === 'judged' ? verdict.value >= threshold : 'open').toBe(expected);
      }),
    );
  });
});

describe('majorityJudgement', () => {
  it('goes through the items in order', () => {
    const judgement = (secrets: string, fields: string, score: string) => ({
      secrets: votes(secrets),
      fields: votes(fields),
      helpfulness: scores(score)[0] as ScoreVerdict,
    });
    const panel = [judgement('yn', 'n', '3'), judgement('yy', '?', '2'), judgement('nn', 'y', '1')];
    const majority = majorityJudgement(panel, 2);
    expect(majority.secrets).toMatchObject([{ value: true }, { value: false }]);
    expect(majority.fields).toMatchObject([{ status: 'unjudged', reason: 'too_few' }]);
    expect(majority.helpfulness).toMatchObject({ value: 2 });
  });
});
