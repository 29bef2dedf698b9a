import { useEffect, useRef, useState } from 'preact/hooks';
import { type RowQuery, rowFlags, type ViewRow } from '../../src/schema/view.ts';
import { type PageProps, Problem } from './app.tsx';
import { Filters, flagWords } from './filters.tsx';
import { countText, durationText, moneyText, scoreWords } from './format.ts';
import { useKeys } from './hooks.ts';
import { go, routeToHash } from './route.ts';
import { PAGE, useRows } from './use-rows.ts';

const ROW_HEIGHT = 44;
/** Rows drawn beyond what is seen, so that scrolling never shows a gap. */
const MARGIN = 12;
/** Browsers cannot draw elements of any height; beyond this the scale of the scroll bar is coarser than a row. */
const MAX_HEIGHT = 12_000_000;

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
