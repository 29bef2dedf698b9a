import { useCallback, useRef, useState } from 'preact/hooks';
import type { RowQuery, ViewRow } from '../../src/schema/view.ts';
import type { ViewApi } from '../../src/view/view-api.ts';

export const PAGE = 100;

/** Rows by position among the matched, read a page at a time as they come into view. */
export function useRows(api: ViewApi, query: RowQuery, revision: number) {
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
