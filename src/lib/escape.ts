/**
 * Text of models, datasets and servers is hostile until shown otherwise: it may hold terminal commands, marks that turn
 * the reading direction, and invisible characters. Here it becomes text that shows what it holds.
 */

/**
 * Control and format characters but tab, newline and the joiners that scripts and emoji need: among them bidirectional
 * marks, embeddings, overrides and isolates (as in "Trojan Source", Boucher and Anderson 2021), zero-width and tag
 * characters. Besides, supplementary variation selectors and fillers, which hide text as well; line and paragraph
 * separators; lone surrogates.
 */
const unsafe =
  /(?![\t\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}]|[\u2028\u2029\u115f\u1160\u3164\uffa0]|[\u{e0100}-\u{e01ef}]/gu;

function placeholder(character: string): string {
  const code = character.codePointAt(0) as number;
  // The control pictures of Unicode: U+2400 NUL to U+241F US, U+2421 DEL.
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
}

/** The text with every unsafe character as a visible placeholder. Newlines and tabs stay; CR LF and CR become newlines. */
export function visible(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(unsafe, placeholder);
}

/** Text that a terminal shows and never obeys: no escape sequence, bell or carriage return gets through. */
export const safeTerminal = visible;

/** The same on one line, for a table cell, a heading or a file name. */
export function oneLine(text: string): string {
  return visible(text).replace(/\s+/g, ' ').trim();
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Text for HTML content or a quoted attribute. */
export function escapeHtml(text: string): string {
  return visible(text).replace(/[&<>"']/g, (character) => entities[character] as string);
}

/** Text as Markdown (GFM) that renders as itself, on one line, and is no link, markup, HTML or table column. */
export function escapeMarkdown(text: string): string {
  return oneLine(text)
    .replace(/[\\`*_[\]<>&|~$]/g, '\\$&')
    .replace(/:(?=\/\/)|@|(?<=\bwww)\./gi, '\\$&');
}

/** A line of finished Markdown whose first characters would make it a heading, list or rule, kept a plain line. */
export function markdownLineStart(line: string): string {
  return line.replace(/^[#+=-]/, '\\$&').replace(/^(\d{1,9})([.)])(?=\s|$)/, '$1\\$2');
}

/** A run of backticks longer than any in the text. */
function ticks(text: string, least: number): string {
  let longest = 0;
  for (const run of text.match(/`+/g) ?? []) longest = Math.max(longest, run.length);
  return '`'.repeat(Math.max(least, longest + 1));
}

/** Text as an inline code span on one line, where nothing is markup. Pipes are escaped, as tables split cells first. */
export function markdownCode(text: string): string {
  const line = oneLine(text);
  if (line === '') return '(empty)';
  const fence = ticks(line, 1);
  const pad = /^[` ]|[` ]$/.test(line) ? ' ' : '';
  return `${fence}${pad}${line}${pad}${fence}`;
}

/** Text as a fenced block that it cannot close. */
export function markdownFence(text: string): string {
  const shown = visible(text);
  const fence = ticks(shown, 3);
  return `${fence}text\n${shown}\n${fence}`;
}
