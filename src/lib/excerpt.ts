import { oneLine } from './escape.ts';

/** What somebody else wrote, fit for an error: one line, nothing that a terminal obeys, cut, and without secrets. */
export function excerpt(text: string, redact: (text: string) => string, length = 200): string {
  // Cut before and after: a reply may have megabytes, and what is escaped may grow.
  const line = oneLine(redact(text.slice(0, 4 * length)));
  return line.length > length || text.length > 4 * length ? `${line.slice(0, length)}...` : line;
}
