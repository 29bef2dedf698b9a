import { useMemo } from 'preact/hooks';
import type { ArmComparison } from '../../src/schema/ci-comparison.ts';
import type { ViewArm } from '../../src/schema/view.ts';
import type { PageProps } from './app.tsx';
import { columns, rowsOf } from './arm-columns.tsx';
import { BreakdownChart, Funnels, Scatter } from './charts.tsx';
import { DifferenceText } from './difference-text.tsx';
import { countText, plural, stateWords } from './format.ts';
import { shownOf, useLoaded } from './hooks.ts';
import { go, type Route } from './route.ts';

function ArmName({ arm }: { arm: ViewArm }) {
  const { planned, records, state, metrics } = arm;
  const short = planned !== undefined && records < planned;
  return (
    <>
      <a href={rowsOf(arm)} class="arm">
        <bdi>{arm.experiment}</bdi>
      </a>
      {arm.control && <span class="tag">control</span>}
      <small>
        {countText(records)}
        {short ? ` of ${countText(planned)}` : ''} {records === 1 ? 'record' : 'records'}, {stateWords[state]}
        {metrics && metrics.counts.failed > 0 && (
          <>
            {', '}
            <a href={rowsOf(arm, { flags: { failed: true } })}>{plural(metrics.counts.failed, 'failure')}</a>
          </>
        )}
      </small>
      {short && <progress value={records} max={planned} aria-label={`records of ${arm.experiment}`} />}
    </>
  );
}

interface TableProps {
  arms: readonly ViewArm[];
  comparisons: ReadonlyMap<string, ArmComparison>;
  baseline: string | undefined;
  route: Extract<Route, { page: 'overview' }>;
}

function ArmsTable({ arms, comparisons, baseline, route }: TableProps) {
  const [by, direction] = (route.sort ?? '').split('.');
  const sorted = useMemo(() => {
    const column = columns.find(({ id }) => id === by);
    if (!column) return [...arms];
    const sign = direction === 'desc' ? -1 : 1;
    const keyed = arms.map((arm, i) => ({ arm, i, key: arm.metrics && column.value(arm.metrics) }));
    keyed.sort((a, b) => {
      if (a.key === undefined || b.key === undefined) {
        return Number(a.key === undefined) - Number(b.key === undefined) || a.i - b.i;
      }
      return sign * (a.key - b.key) || a.i - b.i;
    });
    return keyed.map(({ arm }) => arm);
  }, [arms, by, direction]);
  const sortBy = (id: string) => {
    const next = by !== id ? id : direction === 'desc' ? undefined : `${id}.desc`;
    const { sort: _, ...rest } = route;
    go(next === undefined ? rest : { ...rest, sort: next }, true);
  };
  return (
    <div class="scroll" role="region" aria-label="Arms" tabIndex={0}>
      <table class="arms">
        <thead>
          <tr>
            <th scope="col">Arm</th>
            {columns.map(({ id, title, hint }) => (
              <th
                key={id}
                scope="col"
                title={hint}
                aria-sort={by !== id ? 'none' : direction === 'desc' ? 'descending' : 'ascending'}
              >
                <button type="button" onClick={() => sortBy(id)}>
                  {title}
                  <span aria-hidden="true">{by !== id ? '' : direction === 'desc' ? ' ↓' : ' ↑'}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((arm) => {
            const { metrics } = arm;
            return (
              <tr key={arm.experiment} class={arm.experiment === baseline ? 'baseline' : ''}>
                <th scope="row">
                  <ArmName arm={arm} />
                </th>
                {columns.map((column) => (
                  <td key={column.id}>
                    {metrics ? (
                      column.cell(arm, metrics)
                    ) : (
                      <small>{arm.reading ? 'being read' : 'no record yet'}</small>
                    )}
                    {column.compared && (
                      <DifferenceText comparison={comparisons.get(arm.experiment)} metric={column.compared} />
                    )}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** The run in a minute: arms as rows, what differs from a baseline, and the trade between leakage and coverage. */
export function OverviewPage({ api, overview, revision, route }: PageProps & { route: TableProps['route'] }) {
  const { arms, unreadable } = overview;
  const { baseline } = route;
  const compared = shownOf(
    useLoaded(() => (baseline ? api.differences(baseline) : Promise.resolve(undefined)), [api, baseline, revision]),
  );
  const comparisons = useMemo(
    () => new Map((compared?.comparisons ?? []).map((one) => [one.arm.experiment, one])),
    [compared],
  );
  const setBaseline = (name: string) => {
    const { baseline: _, ...rest } = route;
    go(name === '' ? rest : { ...rest, baseline: name }, true);
  };
  const measured = arms.filter((arm) => arm.metrics);
  return (
    <>
      <div class="page-head">
        <h1>{overview.title}</h1>
        <p>
          {plural(arms.length, 'arm')},{' '}
          {plural(
            arms.reduce((sum, { records }) => sum + records, 0),
            'record',
          )}
          . Each rate has its 95 % interval, and leads to its samples.
        </p>
        <label>
          Difference from{' '}
          <select value={baseline ?? ''} onChange={(event) => setBaseline(event.currentTarget.value)}>
            <option value="">no baseline</option>
            {measured.map(({ experiment }) => (
              <option key={experiment} value={experiment}>
                {experiment}
              </option>
            ))}
          </select>
        </label>
      </div>
      {unreadable.length > 0 && (
        <details class="problem" role="alert">
          <summary>
            {plural(unreadable.length, 'line')} of the records cannot be read, and are not in any number
          </summary>
          <ul>
            {unreadable.slice(0, 50).map(({ file, line, message }) => (
              <li key={`${file}:${line}`}>
                <code>
                  {file}:{line}
                </code>{' '}
                {message}
              </li>
            ))}
          </ul>
        </details>
      )}
      <ArmsTable arms={arms} comparisons={comparisons} baseline={baseline} route={route} />
      <section class="charts" aria-label="Charts">
        <Scatter arms={measured} />
        <Funnels arms={measured} />
        {Object.keys(overview.tags).map((tag) => (
          <BreakdownChart key={tag} arms={measured} tag={tag} />
        ))}
      </section>
    </>
  );
}
