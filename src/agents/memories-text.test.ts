import { describe, expect, it } from 'vitest';
import { memoriesText } from './memories-text.ts';

const items = (...texts: string[]) => texts.map((text) => ({ text, fact_ids: [] }));

describe('memoriesText', () => {
  it('is a list with its further lines indented', () => {
    expect(memoriesText(items('Name: Zoë', 'Chat: hi\nthere\r\n- you'))).toBe(
      '- Name: Zoë\n- Chat: hi\n  there\n  - you',
    );
  });

  it('is nothing when nothing was recalled', () => {
    expect(memoriesText([])).toBe('');
  });
});
