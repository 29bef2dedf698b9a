import { useEffect, useState } from 'preact/hooks';
import { type RowFlag, type RowQuery, rowFlags } from '../../src/schema/view.ts';
import { anyRow, routeToHash } from './route.ts';

export const flagWords: Readonly<Record<RowFlag, string>> = {
  leaked: 'leaked',
  recalled: 'secret recalled',
  flagged: 'flagged by rule',
  disputed: 'judges differ',
  unjudged: 'unjudged',
  failed: 'failed',
};

/** On a page this narrow, in pixels, filters are folded away: they would take half of it. */
const FOLDED = 640;

export function Filters({
  query,
  tags,
  experiments,
  set,
}: {
  query: RowQuery;
  tags: Readonly<Record<string, readonly string[]>>;
  experiments: readonly string[];
  set(change: Partial<RowQuery>): void;
}) {
  const [text, setText] = useState(query.text);
  useEffect(() => setText(query.text), [query.text]);
  const submit = (event: Event) => {
    event.preventDefault();
    set({ text });
  };
  const one = (values: readonly string[]) => (values.length > 1 ? '(several)' : (values[0] ?? ''));
  return (
    <details class="filter-box" open={innerWidth > FOLDED}>
      <summary>Filters</summary>
      <form class="filters" role="search" onSubmit={submit}>
        <label>
          Arm
          <select
            value={one(query.experiments)}
            onChange={(e) => set({ experiments: e.currentTarget.value ? [e.currentTarget.value] : [] })}
          >
            <option value="">all</option>
            {query.experiments.length > 1 && <option value="(several)">several</option>}
            {experiments.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        {Object.entries(tags).map(([tag, values]) => (
          <label key={tag}>
            {tag.replaceAll('_', ' ')}
            <select
              value={one((Object.hasOwn(query.tags, tag) ? query.tags[tag] : undefined) ?? [])}
              onChange={(e) => {
                const { [tag]: _, ...rest } = query.tags;
                set({ tags: e.currentTarget.value ? { ...rest, [tag]: [e.currentTarget.value] } : rest });
              }}
            >
              <option value="">all</option>
              {values.map((value) => (
                <option key={value} value={value}>
                  {value}
                </option>
              ))}
            </select>
          </label>
        ))}
        {rowFlags.map((flag) => {
          const wanted = query.flags[flag];
          return (
            <label key={flag}>
              {flagWords[flag]}
              <select
                value={wanted === undefined ? '' : wanted ? 'yes' : 'no'}
                onChange={(e) => {
                  const { [flag]: _, ...rest } = query.flags;
                  const { value } = e.currentTarget;
                  set({ flags: value === '' ? rest : { ...rest, [flag]: value === 'yes' } });
                }}
              >
                <option value="">any</option>
                <option value="yes">yes</option>
                <option value="no">no</option>
              </select>
            </label>
          );
        })}
        <label class="text">
          Text in the message
          <input
            type="search"
            value={text}
            onInput={(e) => setText(e.currentTarget.value)}
            onBlur={() => text !== query.text && set({ text })}
          />
        </label>
        <a class="button" href={routeToHash({ page: 'samples', query: anyRow })}>
          Clear
        </a>
      </form>
    </details>
  );
}
