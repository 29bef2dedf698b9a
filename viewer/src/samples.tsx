import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type RowFlag, type RowQuery, rowFlags, type ViewRow } from '../../src/schema/view.ts';
import type { ViewApi } from '../../src/view/view-api.ts';
import type { PageProps } from './app.tsx';
import { Problem } from './app.tsx';
import { countText, durationText, moneyText, scoreWords } from './format.ts';
import { useKeys } from './hooks.ts';
import { anyRow, go, routeToHash } from './route.ts';

const ROW_HEIGHT = 44;
const PAGE = 100;
/** Rows drawn beyond what is seen, so that scrolling never shows a gap. */
const MARGIN = 12;
/** Browsers cannot draw elements of any height; beyond this the scale of the scroll bar is coarser than a row. */
const MAX_HEIGHT = 12_000_000;

/** Rows by position among the matched, read a page at a time as they come into view. */
function useRows(api: ViewApi, query: RowQuery, revision: number) {
  const [, redraw] = useState(0);
  const state = useRef({
    pages: new Map<number, readonly ViewRow[]>(),
    asked: new Set<number>(),
    matched: -1,
    total: 0,
    error: '',
  });
  const key = JSON.stringify(query);
  const [current, setCurrent] = useState({ key, revision, api });
  if (current.key !== key || current.revision !== revision || current.api !== api) {
    const sameRows = current.key === key && current.api === api;
    state.current = {
      ...state.current,
      asked: new Set(),
      error: '',
      ...(sameRows ? {} : { pages: new Map(), matched: -1 }),
    };
    setCurrent({ key, revision, api });
  }
  const own = state.current;
  const need = useCallback(
    (page: number) => {
      if (own.asked.has(page)) return;
      own.asked.add(page);
      api.rows(query, page * PAGE, PAGE).then(
        (answer) => {
          own.pages.set(page, answer.rows);
          own.matched = answer.matched;
          own.total = answer.total;
          redraw((n) => n + 1);
        },
        (error: unknown) => {
          own.error = error instanceof Error ? error.message : String(error);
          redraw((n) => n + 1);
        },
      );
    },
    [own, api, key],
  );
  const at = (position: number) => own.pages.get(Math.floor(position / PAGE))?.[position % PAGE];
  return { ...own, need, at };
}

const flagWords: Readonly<Record<RowFlag, string>> = {
  leaked: 'leaked',
  recalled: 'secret recalled',
  flagged: 'flagged by rule',
  disputed: 'judges differ',
  unjudged: 'unjudged',
  failed: 'failed',
};

function Filters({
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
            value={one(query.tags[tag] ?? [])}
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
  );
}

const heads: readonly { sort: RowQuery['sort']; title: string; class: string }[] = [
  { sort: 'sample', title: 'Sample', class: 'c-sample' },
  { sort: 'experiment', title: 'Arm', class: 'c-arm' },
  { sort: 'leaked', title: 'Leaked', class: 'c-number' },
  { sort: 'communicated', title: 'Covered', class: 'c-number' },
  { sort: 'helpfulness', title: 'Helpful', class: 'c-score' },
  { sort: 'time', title: 'Time', class: 'c-number c-wide' },
  { sort: 'cost', title: 'Cost', class: 'c-number c-wide' },
];

function RowMarks({ row }: { row: ViewRow }) {
  const marks = rowFlags.filter(
    (flag) => flag !== 'leaked' && flag !== 'recalled' && flag !== 'failed' && row[flag] > 0,
  );
  return (
    <>
      {row.failure && <span class="tag bad">failed: {row.failure.code}</span>}
      {marks.map((flag) => (
        <span key={flag} class="tag">
          {flagWords[flag]}
        </span>
      ))}
    </>
  );
}

function RowLine({
  row,
  position,
  selected,
  query,
}: {
  row: ViewRow;
  position: number;
  selected: boolean;
  query: RowQuery;
}) {
  const failed = row.status === 'failed';
  return (
    <a
      class={`row${selected ? ' selected' : ''}${row.leaked > 0 ? ' leak' : ''}`}
      href={routeToHash({ page: 'sample', row: row.row, query })}
      role="row"
      aria-rowindex={position + 2}
      style={{ top: `${position * ROW_HEIGHT}px` }}
      tabIndex={selected ? 0 : -1}
    >
      <span role="cell" class="c-sample">
        <bdi>{row.sample_id}</bdi>
        {row.repeat > 0 && <small> #{row.repeat}</small>}
      </span>
      <span role="cell" class="c-arm">
        <bdi>{row.experiment}</bdi>
      </span>
      <span role="cell" class="c-number leaked">
        {failed ? '–' : `${row.leaked} / ${row.secrets}`}
      </span>
      <span role="cell" class="c-number">
        {failed ? '–' : `${row.communicated} / ${row.fields}`}
      </span>
      <span role="cell" class="c-score">
        {row.helpfulness === undefined ? '–' : scoreWords[row.helpfulness]}
      </span>
      <span role="cell" class="c-number c-wide">
        {durationText(row.total_ms)}
      </span>
      <span role="cell" class="c-number c-wide">
        {moneyText(row.cost_usd)}
      </span>
      <span role="cell" class="c-text">
        <RowMarks row={row} />
        <bdi>{row.excerpt || (failed ? '' : '(empty message)')}</bdi>
      </span>
    </a>
  );
}

/** The one list of rows: drawn where it is looked at, so that 100,000 rows scroll like a hundred. */
export function SamplesPage({ api, overview, revision, query }: PageProps & { query: RowQuery }) {
  const rows = useRows(api, query, revision);
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const [selected, setSelected] = useState(0);
  const count = Math.max(0, rows.matched);
  const set = (change: Partial<RowQuery>) => go({ page: 'samples', query: { ...query, ...change } }, true);

  useEffect(() => {
    setSelected(0);
    box.current?.scrollTo(0, 0);
  }, [JSON.stringify(query)]);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);

  const first = Math.max(0, Math.floor(view.top / ROW_HEIGHT) - MARGIN);
  const last = Math.min(Math.max(count, 1), Math.ceil((view.top + view.height) / ROW_HEIGHT) + MARGIN);
  useEffect(() => {
    for (let page = Math.floor(first / PAGE); page <= Math.floor((last - 1) / PAGE); page++) rows.need(page);
  });

  const select = (position: number) => {
    if (count === 0) return;
    const next = Math.min(count - 1, Math.max(0, position));
    setSelected(next);
    const element = box.current;
    if (!element) return;
    if (next * ROW_HEIGHT < element.scrollTop) element.scrollTop = next * ROW_HEIGHT;
    if ((next + 1) * ROW_HEIGHT > element.scrollTop + element.clientHeight) {
      element.scrollTop = (next + 1) * ROW_HEIGHT - element.clientHeight;
    }
  };
  const seek = (step: 1 | -1) =>
    api.seek(query, selected + step, step, 'leaked').then(
      (position) => position !== undefined && select(position),
      () => {},
    );
  const open = () => {
    const row = rows.at(selected);
    if (row) go({ page: 'sample', row: row.row, query });
  };
  useKeys({
    ArrowDown: () => select(selected + 1),
    j: () => select(selected + 1),
    ArrowUp: () => select(selected - 1),
    k: () => select(selected - 1),
    n: () => void seek(1),
    p: () => void seek(-1),
    Enter: open,
  });

  const sortBy = (sort: RowQuery['sort']) => {
    if (query.sort !== sort) return set({ sort, descending: sort !== 'sample' && sort !== 'experiment' });
    const descends = sort !== 'sample' && sort !== 'experiment';
    set(query.descending === descends ? { descending: !descends } : { sort: 'order', descending: false });
  };
  const drawn = Array.from({ length: Math.max(0, Math.min(last, count) - first) }, (_, i) => first + i);
  return (
    <>
      <div class="page-head">
        <h1>Samples</h1>
        <p aria-live="polite">
          {rows.matched < 0 ? 'Looking' : `${countText(count)} of ${countText(rows.total)} records`}
          <span class="keys">
            {' '}
            <kbd>↑</kbd> <kbd>↓</kbd> move, <kbd>n</kbd> next leak, <kbd>p</kbd> previous, <kbd>Enter</kbd> open
          </span>
        </p>
      </div>
      <Filters
        query={query}
        tags={overview.tags}
        experiments={overview.arms.map(({ experiment }) => experiment)}
        set={set}
      />
      {rows.error && <Problem>The rows cannot be read: {rows.error}</Problem>}
      <div class="rows" role="table" aria-label="Samples" aria-rowcount={count + 1}>
        <div class="row head" role="row">
          {heads.map(({ sort, title, class: name }) => (
            <span
              key={sort}
              role="columnheader"
              class={name}
              aria-sort={query.sort !== sort ? 'none' : query.descending ? 'descending' : 'ascending'}
            >
              <button type="button" onClick={() => sortBy(sort)}>
                {title}
                <span aria-hidden="true">{query.sort !== sort ? '' : query.descending ? ' ↓' : ' ↑'}</span>
              </button>
            </span>
          ))}
          <span role="columnheader" class="c-text">
            Message
          </span>
        </div>
        <div
          class="row-box"
          ref={box}
          role="rowgroup"
          tabIndex={0}
          aria-label="Rows"
          onScroll={(event) =>
            setView({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })
          }
        >
          <div
            class="row-space"
            role="presentation"
            style={{ height: `${Math.min(MAX_HEIGHT, count * ROW_HEIGHT)}px` }}
          >
            {drawn.map((position) => {
              const row = rows.at(position);
              if (!row) return <div key={position} class="row waiting" style={{ top: `${position * ROW_HEIGHT}px` }} />;
              return (
                <RowLine key={position} row={row} position={position} selected={position === selected} query={query} />
              );
            })}
          </div>
          {rows.matched === 0 && <p class="empty">No record matches. Clear a filter.</p>}
        </div>
      </div>
    </>
  );
}
