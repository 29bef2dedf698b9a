import { describe, expect, it } from 'vitest';
import { redactor } from './redact.ts';

describe('redactor', () => {
  it('takes out every secret it is told of, wherever it stands', () => {
    expect(redactor(['canary-123456'])('a canary-123456, "canary-123456"')).toBe('a [key], "[key]"');
  });

  it('takes out a secret that holds another one whole', () => {
    expect(redactor(['canary', 'canary-and-more'])('canary-and-more canary')).toBe('[key] [key]');
  });

  it('takes out what looks like a key although nobody named it', () => {
    const text = 'sk-proj-abcdefgh12345 AIzaSyA1234567890abc Authorization: Bearer abc.def';
    expect(redactor([])(text)).toBe('[key] [key] Authorization: [key]');
  });

  it('leaves short values and ordinary words alone', () => {
    expect(redactor(['1', undefined])('HTTP 401: 1 task-oriented risk')).toBe('HTTP 401: 1 task-oriented risk');
  });

  it('strikes out the token of a header when a server repeats it without its scheme', () => {
    const redact = redactor([
      'Bearer corp-7781-token',
      `Basic ${Buffer.from('robot:hunter2hunter2').toString('base64')}`,
    ]);
    expect(redact('no such token: corp-7781-token')).toBe('no such token: [key]');
    expect(redact('user robot with hunter2hunter2 is unknown')).toBe('user robot with [key] is unknown');
  });
});
