import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { code, type Document, details, heading, list, paragraph, quote, strong, table } from './document.ts';
import { renderHtml } from './render-html.ts';
import { renderMarkdown } from './render-markdown.ts';

const hostile = '</pre><script>alert(1)</script>\n```\n# owned | [x](javascript:alert(1)) \u001b[31m\u202e';

const document: Document = {
  title: 'Report <1>',
  subtitle: 'of *a* run',
  blocks: [
    heading(2, 'Numbers'),
    paragraph('Plain, ', strong('strong'), ' and ', code('a|b'), '.'),
    list(['one', ['two ', code('x')]]),
    table(
      'A caption',
      [{ title: 'Name' }, { title: 'Value', align: 'right' }],
      [
        ['a|b', { text: '12.3 %', detail: '8.1–18.0 %' }],
        [{ text: code('c|d') }, 'undefined'],
      ],
    ),
    details('More', [quote(hostile)]),
    {
      kind: 'interval_plot',
      caption: 'Arms.',
      x: 'coverage',
      y: 'leakage',
      points: [{ label: '<arm>', x: { value: 0.5, low: 0.25, high: 0.75 }, y: { value: 0, low: 0, high: 0.1 } }],
    },
  ],
};

describe('renderMarkdown', () => {
  it('renders every block, and nothing twice', () => {
    expect(renderMarkdown(document)).toBe(
      [
        '# Report \\<1\\>',
        'of \\*a\\* run',
        '## Numbers',
        'Plain, **strong** and `a|b`.',
        '- one\n- two `x`',
        '**A caption**',
        '| Name | Value |\n| --- | ---: |\n| a\\|b | 12.3 % (8.1–18.0 %) |\n| `c\\|d` | undefined |',
        'More',
        '````text\n</pre><script>alert(1)</script>\n```\n# owned | [x](javascript:alert(1)) ␛[31m[U+202E]\n````\n',
      ].join('\n\n'),
    );
  });

  it('keeps hostile text out of tables, lists and headings', () => {
    const text = renderMarkdown({
      title: hostile,
      blocks: [
        heading(2, hostile),
        paragraph(hostile),
        list([[code(hostile)]]),
        table(hostile, [{ title: hostile }, { title: 'b' }], [[hostile, { text: code(hostile) }]]),
      ],
    });
    const lines = text.split('\n');
    // Title, heading, paragraph, list item, caption, head, rule and row: no line is made by the text itself.
    expect(lines.filter((line) => line !== '').length).toBe(8);
    for (const line of lines.filter((each) => each.startsWith('|'))) expect(line.match(/(?<!\\)\|/g)).toHaveLength(3);
    const outsideCode = text.replace(/(?<![\\`])(`+)(?!`).*?(?<!`)\1(?!`)/g, '');
    expect(outsideCode).not.toMatch(/(?<!\\)<|(?<!\\)\[/);
  });
});

describe('renderHtml', () => {
  const html = renderHtml(document);

  it('allows its own style sheet by hash, and nothing else', () => {
    const style = /<style>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(html).toContain(
      `content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'"`,
    );
    expect(html).not.toMatch(/<script|<link|<img|\ssrc=|\shref=|\sstyle=|\son\w+=|url\(/i);
  });

  it('escapes what models and datasets say', () => {
    expect(html).toContain('<pre dir="auto">\n&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(html).toContain('␛[31m[U+202E]</pre>');
    expect(html).toContain('<title>Report &lt;1&gt;</title>');
    expect(html).toContain('&lt;arm&gt;</text>');
  });

  it('tells a screen reader what tables and figures are', () => {
    expect(html).toContain('<caption>A caption</caption>');
    expect(html).toContain('<th scope="col" class="right">Value</th>');
    expect(html).toContain('<th scope="row">a|b</th><td class="right">12.3 %<small>8.1–18.0 %</small></td>');
    expect(html).toContain('role="img" aria-label="Arms. &lt;arm&gt;: coverage 50 %, leakage 0 %"');
    expect(html).toMatch(/^<!doctype html>\n<html lang="en">/);
  });

  it('draws a point where its shares say', () => {
    // The plot is 560 x 400 with margins 58, 26, 16, 52: x = 58 + 0.5 * 476, y = 400 - 52.
    expect(html).toContain('<circle cx="296" cy="348" r="4.5"/>');
  });
});
