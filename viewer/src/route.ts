import { type RowQuery, rowQuerySchema } from '../../src/schema/view.ts';
import { queryFromParams, queryToParams } from '../../src/view/row-query-text.ts';

/** What the page shows. The part of the URL after `#` holds all of it, so that a link opens what was looked at. */
export type Route =
  | { page: 'overview'; baseline?: string; sort?: string }
  | { page: 'samples'; query: RowQuery }
  | { page: 'sample'; row: number; query: RowQuery; beside?: string };

export const anyRow: RowQuery = rowQuerySchema.parse({});

export function routeToHash(route: Route): string {
  const text = (path: string, params: URLSearchParams) => `#/${path}${params.size > 0 ? `?${params}` : ''}`;
  if (route.page === 'overview') {
    const params = new URLSearchParams();
    if (route.baseline) params.set('baseline', route.baseline);
    if (route.sort) params.set('sort', route.sort);
    return text('', params);
  }
  const params = queryToParams(route.query);
  if (route.page === 'samples') return text('samples', params);
  if (route.beside) params.set('beside', route.beside);
  return text(`samples/${route.row}`, params);
}

export function routeFromHash(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?');
  const params = new URLSearchParams(search);
  const [first, second] = path.split('/');
  if (first !== 'samples') {
    const [baseline, sort] = [params.get('baseline'), params.get('sort')];
    return { page: 'overview', ...(baseline ? { baseline } : {}), ...(sort ? { sort } : {}) };
  }
  const query = queryFromParams(params);
  if (second === undefined || !/^\d+$/.test(second)) return { page: 'samples', query };
  const beside = params.get('beside');
  return { page: 'sample', row: Number(second), query, ...(beside ? { beside } : {}) };
}

/** A link to rows: what a number on the overview stands for. */
export const rowsHash = (query: Partial<RowQuery>): string =>
  routeToHash({ page: 'samples', query: { ...anyRow, ...query } });

export const go = (route: Route, replace = false): void => {
  const hash = routeToHash(route);
  if (replace) {
    history.replaceState(null, '', hash);
    dispatchEvent(new HashChangeEvent('hashchange'));
  } else location.hash = hash;
};
