type Headers = Readonly<Record<string, string | undefined>>;

/**
 * How long a server asks to be left alone, in milliseconds: `retry-after-ms`, or Retry-After as seconds or as an HTTP
 * date (RFC 9110, section 10.2.3). Header names are in lower case. `undefined` where it asks for nothing it can mean.
 */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const exact = positive(headers['retry-after-ms']);
  if (exact !== undefined) return exact;
  const plain = headers['retry-after'];
  if (plain === undefined) return undefined;
  const seconds = positive(plain);
  if (seconds !== undefined) return seconds * 1000;
  const date = Date.parse(plain);
  return Number.isNaN(date) || /^-?\d/.test(plain) ? undefined : Math.max(0, date - now);
}

function positive(text: string | undefined): number | undefined {
  const number = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(number) && number >= 0 ? number : undefined;
}
