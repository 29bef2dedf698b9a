import { timingSafeEqual } from 'node:crypto';
import { Hono, type MiddlewareHandler } from 'hono';
import { HeamsError, messageOf } from '../lib/errors.ts';
import { labelChangeSchema, type RowFlag, rowFlags } from '../schema/view.ts';
import { queryFromParams } from '../view/row-query-text.ts';
import { MAX_ROWS, type ViewApi } from '../view/view-api.ts';
import type { ResultsIndex } from './results-index.ts';

export interface AppOptions {
  index: Pick<ResultsIndex, 'refreshFor' | 'revision'>;
  /** The same results with their secrets as they are, and struck out. */
  plain: ViewApi;
  masked: ViewApi;
  /** Part of every path: who does not know it reads nothing. */
  token: string;
  /** Values of `Host` that are this server. A page elsewhere whose name is made to lead here brings another. */
  hosts: ReadonlySet<string>;
  /** The page's files by path. */
  assets: ReadonlyMap<string, { type: string; body: Uint8Array }>;
}

/** How long a page waits for what is new before it is shown what there is. */
const PATIENCE_MS = 300;

const headers: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

function sameText(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Lets in who names this server, comes from its own page, and knows the token. */
function guard({ hosts, token }: AppOptions): MiddlewareHandler {
  return async (context, next) => {
    for (const [name, value] of Object.entries(headers)) context.header(name, value);
    const host = context.req.header('host') ?? '';
    const origin = context.req.header('origin');
    const site = context.req.header('sec-fetch-site');
    // A link in a chat may lead to the page; no other site may ask for what is behind it.
    const elsewhere = site !== undefined && !['same-origin', 'none'].includes(site);
    const foreign =
      !hosts.has(host) ||
      (origin !== undefined && origin !== `http://${host}`) ||
      (elsewhere && context.req.header('sec-fetch-mode') !== 'navigate') ||
      (elsewhere && context.req.path.includes('/api/'));
    if (foreign) return context.text('this server answers its own page alone', 403);
    if (!sameText(context.req.param('token') ?? '', token)) {
      return context.text('open the address that `heams view` printed: it holds a token', 403);
    }
    return next();
  };
}

const whole = (text: string | undefined, fallback: number): number => {
  const value = Number(text ?? fallback);
  return Number.isInteger(value) && value >= 0 ? value : fallback;
};

/** The read API and the page. All of it is below `/<token>/`. */
export function viewerApp(options: AppOptions): Hono {
  const { index, plain, masked, assets } = options;
  const app = new Hono();
  app.use('/:token/*', guard(options));
  const view = (params: URLSearchParams): ViewApi => (params.get('mask') === '1' ? masked : plain);
  const paramsOf = (url: string) => new URL(url).searchParams;
  const query = (params: URLSearchParams) => queryFromParams(new URLSearchParams(params.get('q') ?? ''));

  app.get('/:token/api/overview', async (context) => {
    await index.refreshFor(PATIENCE_MS);
    return context.json(await view(paramsOf(context.req.url)).overview());
  });
  app.get('/:token/api/revision', async (context) => {
    await index.refreshFor(PATIENCE_MS);
    return context.json({ revision: index.revision });
  });
  app.get('/:token/api/rows', async (context) => {
    const params = paramsOf(context.req.url);
    const offset = whole(params.get('offset') ?? undefined, 0);
    const limit = Math.min(whole(params.get('limit') ?? undefined, 100), MAX_ROWS);
    return context.json(await view(params).rows(query(params), offset, limit));
  });
  app.get('/:token/api/seek', async (context) => {
    const params = paramsOf(context.req.url);
    const flag = params.get('flag') as RowFlag;
    if (!rowFlags.includes(flag)) return context.json({ error: 'unknown flag' }, 400);
    const step = params.get('step') === '-1' ? -1 : 1;
    const from = Number(params.get('from') ?? 0);
    const position = await plain.seek(query(params), Number.isInteger(from) ? from : 0, step, flag);
    return context.json(position === undefined ? {} : { position });
  });
  app.get('/:token/api/position', async (context) => {
    const params = paramsOf(context.req.url);
    const position = await plain.positionOf(query(params), whole(params.get('row') ?? undefined, 0));
    return context.json(position === undefined ? {} : { position });
  });
  app.get('/:token/api/samples/:row', async (context) => {
    const params = paramsOf(context.req.url);
    return context.json(await view(params).sample(whole(context.req.param('row'), -1)));
  });
  app.get('/:token/api/differences', async (context) => {
    const comparison = await plain.differences(paramsOf(context.req.url).get('baseline') ?? '');
    return context.json(comparison ?? null);
  });
  app.get('/:token/api/labels', async (context) => context.json(await plain.labels()));
  app.post('/:token/api/labels', async (context) => {
    if (context.req.header('content-type') !== 'application/json') return context.json({ error: 'JSON alone' }, 415);
    const change = labelChangeSchema.safeParse(await context.req.json().catch(() => undefined));
    if (!change.success) return context.json({ error: 'this is no label' }, 400);
    return context.json(await plain.setLabel(change.data));
  });
  app.get('/:token/*', (context) => {
    const path = context.req.path.split('/').slice(2).join('/') || 'index.html';
    const asset = assets.get(path);
    if (!asset) return context.text('there is no such page', 404);
    context.header('Content-Type', asset.type);
    return context.body(new Uint8Array(asset.body));
  });
  app.notFound((context) => context.text('open the address that `heams view` printed: it holds a token', 404));
  app.onError((error, context) => {
    const known = error instanceof HeamsError;
    return context.json({ error: known ? messageOf(error) : 'the server failed' }, known ? 400 : 500);
  });
  return app;
}
