import { APICallError } from '@ai-sdk/provider';
import { ModelError, type ModelErrorKind } from '../contracts/model.ts';
import { messageOf } from '../lib/errors.ts';
import { retryAfterMs } from '../lib/retry-after.ts';
import type { Connection } from './provider.ts';
import { redactor } from './redact.ts';

/** What a server says in an error body, as far as vendors agree on one. */
interface ErrorBody {
  message?: string;
  /** Every `code`, `type`, `status` and `reason` in it. */
  codes: ReadonlySet<string>;
  /** Google's RetryInfo. */
  retryDelayMs?: number;
}

const spent = new Set([
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_not_active',
  'billing_error',
  'insufficient_balance',
]);

/** How much of a server's own words goes into a message, in characters. */
const EXCERPT = 300;

/**
 * Turns whatever a vendor's client threw into a `ModelError`. The client's error does not go along as its cause: it
 * holds the server's raw body, which may repeat the key.
 */
export function toModelError(error: unknown, connection: Connection): ModelError {
  const ours = modelErrorIn(error);
  if (ours) return ours;
  const redact = redactor([connection.apiKey, ...Object.values(connection.headers)]);
  const build = (
    kind: ModelErrorKind,
    text: string,
    more: { status?: number; retryAfterMs?: number; hint?: string } = {},
  ) =>
    new ModelError(kind, `${connection.modelId}: ${excerpt(redact(text))}`, { modelId: connection.modelId, ...more });

  const code = networkCode(error);
  if (code !== undefined) {
    const slow = code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT';
    return build(slow ? 'timeout' : 'network', `no answer from ${connection.baseUrl} (${code})`);
  }
  if (!APICallError.isInstance(error)) {
    const name = error instanceof Error ? error.name : '';
    const kind =
      name === 'AI_InvalidResponseDataError' || name === 'AI_EmptyResponseBodyError' ? 'bad_response' : 'bad_request';
    return build(kind, messageOf(error));
  }
  const status = error.statusCode;
  if (status === undefined) return build('network', error.message);
  const raw = error.responseBody ?? '';
  if (status < 300)
    return build('bad_response', `HTTP ${status}, but not with an answer (${error.message}): ${raw}`, { status });
  const body = readBody(raw);
  const waitMs = retryAfterMs(error.responseHeaders ?? {}, connection.now()) ?? body.retryDelayMs;
  const kind = kindOf(status, body);
  return build(kind, `HTTP ${status}: ${body.message ?? (raw || error.message)}`, {
    status,
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
    ...hintFor(kind, status, connection),
  });
}

function kindOf(status: number, { message = '', codes }: ErrorBody): ModelErrorKind {
  if ([...codes].some((code) => spent.has(code)) || /credit balance is too low/i.test(message)) return 'quota';
  if (codes.has('API_KEY_INVALID')) return 'auth';
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'quota';
  if (status === 404) return 'not_found';
  if (status === 408) return 'timeout';
  if (status === 429) return [...codes].some((code) => /PerDay/.test(code)) ? 'quota' : 'rate_limit';
  if (status === 409 || status === 425 || status >= 500) return 'server';
  return 'bad_request';
}

function hintFor(kind: ModelErrorKind, status: number, { modelId, settings, baseUrl }: Connection): { hint?: string } {
  if (kind === 'auth')
    return { hint: `check the key for ${modelId}${settings.api_key_env ? ` in ${settings.api_key_env}` : ''}` };
  if (kind === 'quota') return { hint: 'the account has no quota left: top it up, or take another key' };
  if (status < 400) return { hint: 'the server answers from another address: name that one in base_url' };
  if (kind === 'not_found' && baseUrl !== undefined && !/\/v\d/.test(baseUrl)) {
    return { hint: 'check the model name and base_url, which usually ends in /v1' };
  }
  return kind === 'not_found' ? { hint: 'check the model name' } : {};
}

/** An error of HEAMS's own fetch, which a client may have wrapped. */
function modelErrorIn(error: unknown): ModelError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if (at instanceof ModelError) return at;
  }
  return undefined;
}

/** The code of the socket error at the bottom, where there is one. */
function networkCode(error: unknown): string | undefined {
  let code: string | undefined;
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    const found = (at as { code?: unknown }).code;
    if (
      typeof found === 'string' &&
      /^(UND_ERR_|E[A-Z]+$|EAI_|CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(found)
    )
      code = found;
  }
  return code;
}

function readBody(text: string): ErrorBody {
  const codes = new Set<string>();
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { codes };
  }
  const body: ErrorBody = { codes };
  walk(parsed, (key, value) => {
    if (['code', 'type', 'status', 'reason', 'quotaId'].includes(key)) codes.add(value);
    if ((key === 'message' || key === 'error' || key === 'detail') && body.message === undefined) body.message = value;
    if (key === 'retryDelay' && /^[\d.]+s$/.test(value)) body.retryDelayMs = Number.parseFloat(value) * 1000;
  });
  return body;
}

/** Calls back for every string in a small JSON document, with its key. */
function walk(value: unknown, visit: (key: string, value: string) => void, key = '', depth = 0): void {
  if (typeof value === 'string') visit(key, value);
  else if (value !== null && typeof value === 'object' && depth < 6) {
    for (const [name, inner] of Object.entries(value)) walk(inner, visit, Array.isArray(value) ? key : name, depth + 1);
  }
}

/** How much of a server's words is looked at: finding markup takes time that grows with the square of the text. */
const LOOKED_AT = 4_000;

/** One line, without markup or control characters, cut to length. */
function excerpt(text: string): string {
  const plain = text
    .slice(0, LOOKED_AT)
    .replace(/<(script|style)[\s\S]*?<\/\1>|<[^>]*>/gi, ' ')
    .replace(/[\s\x00-\x1f\x7f]+/g, ' ')
    .trim();
  return plain.length > EXCERPT ? `${plain.slice(0, EXCERPT)}...` : plain;
}
