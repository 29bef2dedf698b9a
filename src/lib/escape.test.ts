import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  escapeHtml,
  escapeMarkdown,
  markdownCode,
  markdownFence,
  markdownLineStart,
  oneLine,
  safeTerminal,
  visible,
} from './escape.ts';

const ESC = '\u001b';
const anyText = fc.string({ unit: 'binary', maxLength: 60 });
const hostileText = fc
  .array(
    fc.constantFrom(
      '\u0000',
      '\u0007',
      ESC,
      `${ESC}[31m`,
      '\r',
      '\n',
      '\u202e',
      '\u2066',
      '\u009b',
      '\ud800',
      '`',
      '```',
      '|',
      '<b>',
      'a',
    ),
    { maxLength: 20 },
  )
  .map((parts) => parts.join(''));

describe('visible', () => {
  it('shows what a terminal would obey', () => {
    expect(visible(`${ESC}[2J${ESC}]0;title\u0007 \u009b31m`)).toBe('␛[2J␛]0;title␇ [U+009B]31m');
  });

  it('shows marks that turn the reading direction', () => {
    expect(visible('user\u202egnp.exe\u2066\u2069')).toBe('user[U+202E]gnp.exe[U+2066][U+2069]');
  });

  it('shows invisible characters and lone surrogates', () => {
    expect(visible('a\u200bb\ufeffc\u{e0041}d\ud800e')).toBe('a[U+200B]b[U+FEFF]c[U+E0041]d[U+D800]e');
  });

  it('leaves text of any script alone, with its joiners, and makes newlines alike', () => {
    const text = 'Zażółć 山田 👩‍👩‍👧 می‌خواهم\tשלום';
    expect(visible(text)).toBe(text);
    expect(visible('a\r\nb\rc\nd')).toBe('a\nb\nc\nd');
  });

  it('lets no control character through', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, hostileText), (text) => {
        expect(safeTerminal(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
        expect(oneLine(text)).not.toContain('\n');
      }),
    );
  });
});

describe('escapeHtml', () => {
  it('leaves no way out of content or a quoted attribute', () => {
    expect(escapeHtml(`<img src=x onerror="alert('1')">&`)).toBe(
      '&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;',
    );
    fc.assert(
      fc.property(anyText, (text) => {
        expect(escapeHtml(text)).not.toMatch(/[<>"']/);
      }),
    );
  });
});

describe('escapeMarkdown', () => {
  it('is no markup, link, HTML or column', () => {
    expect(escapeMarkdown('**a** [x](http://evil) <b> | `c` _d_ www.evil.com me@evil.com')).toBe(
      '\\*\\*a\\*\\* \\[x\\](http\\://evil) \\<b\\> \\| \\`c\\` \\_d\\_ www\\.evil.com me\\@evil.com',
    );
  });

  it('stays on its line', () => {
    expect(escapeMarkdown('a\n\n# b')).toBe('a # b');
  });
});

describe('markdownLineStart', () => {
  it.each([
    ['# a', '\\# a'],
    ['- a', '\\- a'],
    ['1. a', '1\\. a'],
    ['1) a', '1\\) a'],
    ['63.6 %', '63.6 %'],
    ['plain', 'plain'],
  ])('%s', (line, expected) => expect(markdownLineStart(line)).toBe(expected));
});

describe('markdownCode and markdownFence', () => {
  it('are fenced by more backticks than the text has in a row', () => {
    expect(markdownCode('a ``b`` c')).toBe('```a ``b`` c```');
    expect(markdownCode('`a')).toBe('`` `a ``');
    expect(markdownCode(' ')).toBe('(empty)');
    expect(markdownFence('x\n````\ny')).toBe('`````text\nx\n````\ny\n`````');
  });

  it('cannot be closed from inside', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, hostileText), (text) => {
        const lines = markdownFence(text).split('\n');
        const fence = lines.at(-1) as string;
        expect(lines[0]).toBe(`${fence}text`);
        expect(lines.slice(1, -1).some((line) => line.includes(fence))).toBe(false);
      }),
    );
  });
});
