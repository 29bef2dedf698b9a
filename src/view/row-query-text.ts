import { type RowFlag, type RowQuery, rowFlags, rowQuerySchema } from '../schema/view.ts';

const TAG = 'tag.';

/** A query as URL parameters, what is as by default left out: `arm=a&arm=b&tag.domain=Health&leaked=yes&sort=time.desc`. */
export function queryToParams(query: RowQuery): URLSearchParams {
  const params = new URLSearchParams();
  for (const experiment of query.experiments) params.append('arm', experiment);
  for (const [name, values] of Object.entries(query.tags)) {
    for (const value of values) params.append(`${TAG}${name}`, value);
  }
  for (const flag of rowFlags) {
    const wanted = query.flags[flag];
    if (wanted !== undefined) params.set(flag, wanted ? 'yes' : 'no');
  }
  if (query.text !== '') params.set('text', query.text);
  if (query.sample !== undefined) params.set('sample', query.sample);
  if (query.sort !== 'order' || query.descending) params.set('sort', `${query.sort}${query.descending ? '.desc' : ''}`);
  return params;
}

/** The query of URL parameters. Parameters that make no sense are passed over: a URL may be old, or typed by hand. */
export function queryFromParams(params: URLSearchParams): RowQuery {
  // By a map: a tag may be called as something that every object has.
  const values = new Map<string, string[]>();
  for (const [name, value] of params) {
    if (!name.startsWith(TAG)) continue;
    const tag = name.slice(TAG.length);
    values.set(tag, [...(values.get(tag) ?? []), value]);
  }
  const tags = Object.fromEntries(values);
  const flags: Partial<Record<RowFlag, boolean>> = {};
  for (const flag of rowFlags) {
    const said = params.get(flag);
    if (said === 'yes' || said === 'no') flags[flag] = said === 'yes';
  }
  const [sort, direction] = (params.get('sort') ?? 'order').split('.');
  const sample = params.get('sample');
  const whole = {
    experiments: params.getAll('arm'),
    tags,
    flags,
    text: params.get('text') ?? '',
    ...(sample === null ? {} : { sample }),
    descending: direction === 'desc',
  };
  const parsed = rowQuerySchema.safeParse({ ...whole, sort });
  return parsed.success ? parsed.data : rowQuerySchema.parse(whole);
}
