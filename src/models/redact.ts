/** Keys as vendors write them, for a server that repeats another key than the one it was sent. */
const keyLike = /\b(?:sk|pk|rk|gsk|xai|hf)[-_][A-Za-z0-9_-]{8,}|\bAIza[A-Za-z0-9_-]{10,}|\bBearer\s+[^\s"',]+/gi;

/** A secret whole, and its words: of a header `Bearer abc`, a server may repeat `abc` alone. Basic ones also decoded. */
function partsOf(secret: string | undefined): string[] {
  if (secret === undefined) return [];
  const words = secret.split(/\s+/);
  const basic = /^basic$/i.test(words[0] ?? '') ? Buffer.from(words[1] ?? '', 'base64').toString('utf8') : '';
  return [secret, ...words, basic, ...basic.split(':')];
}

/** A secret as it stands, as a URL writes it and in base64: servers repeat it in any of these. */
function formsOf(secret: string): string[] {
  // A lone surrogate has no form in a URL.
  const inUrl = !/\p{Surrogate}/u.test(secret) ? encodeURIComponent(secret) : secret;
  return [secret, inUrl, Buffer.from(secret).toString('base64').replace(/=+$/, '')];
}

/**
 * A function that takes every secret, and anything that looks like a key, out of a text. Short values are left alone:
 * striking out a header's "1" would make every message unreadable, and nobody's key is that short.
 */
export function redactor(secrets: Iterable<string | undefined>): (text: string) => string {
  const known = [
    ...new Set(
      [...secrets]
        .flatMap(partsOf)
        .filter((secret) => secret.length >= 6)
        .flatMap(formsOf),
    ),
  ];
  // The longest first, so that a secret inside another does not leave the rest of it standing.
  known.sort((a, b) => b.length - a.length);
  return (text) => known.reduce((left, secret) => left.replaceAll(secret, '[key]'), text).replace(keyLike, '[key]');
}
