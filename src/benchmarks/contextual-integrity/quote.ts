/** Everything that Unicode or a terminal takes for the end of a line. `\r\n` is one end, not two. */
const lineEnd = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/u;

/**
 * Characters that are not seen but can steer how a text is read: control characters, bidirectional overrides, tag
 * characters and variation selectors (both can carry hidden text) and lone surrogates. Tab, and the joiners that
 * ordinary Persian, Hindi and emoji need, stay.
 */
const unseen = /(?![\t\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}]|[\u{E0100}-\u{E01EF}]/gu;

const named = (char: string) => `<U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;

/**
 * A message as quoted data for a judge: every line starts with `> `, so nothing in the message can end its own
 * quotation, and what is unseen is spelled out. A message without anything to read is said to be so, outside any
 * quotation.
 */
export function quoted(message: string): string {
  if (message.trim() === '') return '(The message is empty.)';
  return message
    .split(lineEnd)
    .map((line) => `> ${line.replace(unseen, named)}`)
    .join('\n');
}
