import { useEffect, useState } from 'preact/hooks';
import type { LabelChange, ViewRow } from '../../src/schema/view.ts';
import type { PageProps } from './app.tsx';
import { shownOf, useKept, useLoaded } from './hooks.ts';
import { go } from './route.ts';
import type { SampleRoute } from './sample-parts.tsx';

export function useLabels({ api, overview, revision }: PageProps, row: ViewRow | undefined) {
  const loaded = shownOf(useLoaded(() => (overview.live ? api.labels() : Promise.resolve(undefined)), [api, revision]));
  const [fresh, setFresh] = useState(loaded);
  const [rater, setRater] = useKept('heams-rater', '');
  const [error, setError] = useState('');
  useEffect(() => setFresh(loaded), [loaded]);
  const current = fresh ?? loaded;
  const labelOf = (item: string) =>
    current?.labels.find(
      (label) =>
        label.experiment === row?.experiment &&
        label.sample_id === row.sample_id &&
        label.repeat === row.repeat &&
        label.item === item &&
        label.rater === (rater || 'me'),
    );
  const set = (item: string, label: LabelChange['label']) => {
    if (!row) return;
    const { experiment, sample_id, repeat } = row;
    api.setLabel({ experiment, sample_id, repeat, item, label, rater: rater || 'me' }).then(
      (answer) => {
        setError('');
        setFresh(answer);
      },
      (problem: unknown) => setError(problem instanceof Error ? problem.message : String(problem)),
    );
  };
  return { current, labelOf, set: overview.live ? set : undefined, rater, setRater, error };
}

/** Where this sample stands in the list it was opened from, and the ways to the next ones. */
export function useNeighbours({ api }: PageProps, { row, query }: SampleRoute) {
  const position = shownOf(useLoaded(() => api.positionOf(query, row), [api, row, JSON.stringify(query)]));
  const matched = shownOf(useLoaded(() => api.rows(query, 0, 1), [api, JSON.stringify(query)]))?.matched;
  const openAt = async (at: number | undefined) => {
    if (at === undefined || at < 0) return;
    const found = (await api.rows(query, at, 1)).rows[0];
    if (found) go({ page: 'sample', row: found.row, query });
  };
  const move = (step: 1 | -1) => void openAt((position ?? 0) + step);
  const seek = (step: 1 | -1) => void api.seek(query, (position ?? 0) + step, step, 'leaked').then(openAt, () => {});
  return { position, matched, move, seek };
}
