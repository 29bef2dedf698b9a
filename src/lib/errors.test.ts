import { describe, expect, it } from 'vitest';
import { formatWhere, HeamsError, HeamsErrors, messageOf, throwIfAny } from './errors.ts';

const first = new HeamsError('unknown key "modle_id"', {
  code: 'config_unknown_key',
  where: { file: 'agent.yaml', line: 3, column: 5 },
  expected: 'one of model_id, instructions',
  found: 'modle_id',
  hint: 'did you mean "model_id"?',
});
const second = new HeamsError('cannot reach the hub', { code: 'hub_unreachable', cause: new Error('ECONNREFUSED') });

describe('HeamsError', () => {
  it('tells what, where, what was expected, what was found, and what to do', () => {
    expect(first.describe()).toBe(
      [
        'agent.yaml:3:5: unknown key "modle_id"',
        '  expected: one of model_id, instructions',
        '  found:    modle_id',
        '  next:     did you mean "model_id"?',
      ].join('\n'),
    );
  });

  it('says nothing of what it does not know', () => {
    expect(second.describe()).toBe('cannot reach the hub');
    expect(second).toMatchObject({ name: 'HeamsError', code: 'hub_unreachable', where: undefined });
    expect(second.cause).toMatchObject({ message: 'ECONNREFUSED' });
    expect('cause' in first).toBe(false);
  });
});

describe('throwIfAny', () => {
  const thrown = (errors: readonly HeamsError[]) => {
    try {
      throwIfAny(errors);
    } catch (error) {
      return error;
    }
    return undefined;
  };

  it('throws nothing, the one, or all as one', () => {
    expect(thrown([])).toBeUndefined();
    expect(thrown([first])).toBe(first);
    const both = thrown([first, second]) as HeamsErrors;
    expect(both).toBeInstanceOf(HeamsErrors);
    expect(both).toMatchObject({ code: 'several', message: '2 problems', errors: [first, second] });
    expect(both.describe()).toBe(`${first.describe()}\n${second.describe()}`);
  });
});

it('formats a place as far as it is known', () => {
  expect(formatWhere({ file: 'a.yaml' })).toBe('a.yaml');
  expect(formatWhere({ file: 'a.yaml', line: 3 })).toBe('a.yaml:3:1');
  expect(formatWhere({ file: 'a.yaml', line: 3, column: 5 })).toBe('a.yaml:3:5');
});

it('has a message for anything that is thrown', () => {
  expect(messageOf(new TypeError('bad'))).toBe('bad');
  expect(messageOf('text')).toBe('text');
  expect(messageOf(undefined)).toBe('undefined');
});
