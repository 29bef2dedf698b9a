/** Keys as vendors write them, for a server that repeats another key than the one it was sent. */
const keyLike = /\b(?:sk|pk|rk|gsk|xai|hf)[-_][A-Za-z0-9_-]{8,}|\bAIza[A-Za-z0-9_-]{10,}|\bBearer\s+[^\s"',]+/gi;

/**
 * A function that takes every secret, and anything that looks like a key, out of a text. Short values are left alone:
 * striking out a header's "1" would make every message unreadable, and nobody's key is that short.
 */
export function redactor(secrets: Iterable<string | undefined>): (text: string) => string {
  const known = [...new Set([...secrets].filter((secret) => secret !== undefined && secret.length >= 6))] as string[];
  // The longest first, so that a secret inside another does not leave the rest of it standing.
  known.sort((a, b) => b.length - a.length);
  return (text) => known.reduce((left, secret) => left.replaceAll(secret, '[key]'), text).replace(keyLike, '[key]');
}
