import { readLines } from '../store/lines.ts';

const REPLY = Buffer.from('"reply":{"message":"');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The message of a record's line without parsing the whole line, which most searches would throw away. */
function messageOf(line: Buffer): string {
  const at = line.indexOf(REPLY);
  if (at >= 0) {
    const start = at + REPLY.length;
    let end = start;
    while (end < line.length && line[end] !== QUOTE) end += line[end] === BACKSLASH ? 2 : 1;
    return JSON.parse(line.toString('utf8', start - 1, end + 1)) as string;
  }
  const record = JSON.parse(line.toString('utf8')) as { reply?: { message?: unknown } };
  const message = record.reply?.message;
  return typeof message === 'string' ? message : '';
}

/**
 * Numbers of the lines whose message holds the text, whatever its case. Reads the file once, in chunks; a line that is
 * no record is passed over, as the index has said so already.
 *
 * @throws the signal's reason when a newer search has taken this one's place.
 */
export async function linesWithText(file: string, text: string, signal: AbortSignal): Promise<Set<number>> {
  const wanted = text.toLowerCase();
  const found = new Set<number>();
  for await (const batch of readLines(file)) {
    signal.throwIfAborted();
    for (const { number, bytes } of batch) {
      try {
        if (messageOf(bytes).toLowerCase().includes(wanted)) found.add(number);
      } catch {}
    }
  }
  return found;
}
