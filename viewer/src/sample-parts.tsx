import { stages } from '../../src/schema/usage.ts';
import type { ViewRow, ViewSample } from '../../src/schema/view.ts';
import { countText, durationText, moneyText, scoreWords } from './format.ts';
import { go, type Route, routeToHash } from './route.ts';

export type SampleRoute = Extract<Route, { page: 'sample' }>;

export function Section({
  title,
  open,
  children,
}: {
  title: string;
  open?: boolean;
  children: preact.ComponentChildren;
}) {
  return (
    <details class="section" open={open ?? false}>
      <summary>
        <h2>{title}</h2>
      </summary>
      {children}
    </details>
  );
}

/** The facts as the memory got them: allowed and disallowed apart, with how far each came. */
export function Facts({ sample }: { sample: ViewSample }) {
  const stored = new Set(sample.stored?.flatMap(({ fact_ids }) => fact_ids));
  const recalled = new Set(sample.recalls.flatMap(({ items }) => items.flatMap(({ fact_ids }) => fact_ids)));
  const groups = [
    ['secret', 'Disallowed'],
    ['field', 'Allowed'],
    ['both', 'Annotated as both'],
    ['none', 'Not annotated'],
  ] as const;
  return (
    <>
      {groups.map(([side, title]) => {
        const facts = sample.facts.filter((fact) => fact.side === side);
        if (facts.length === 0) return null;
        return (
          <div key={side} class={`facts ${side}`}>
            <h3>
              {title} <small>{countText(facts.length)}</small>
            </h3>
            <ul>
              {facts.map((fact) => (
                <li key={fact.id} dir="auto">
                  {fact.text}{' '}
                  <small>
                    {stored.has(fact.id) && <span class="tag">stored</span>}
                    {recalled.has(fact.id) && <span class="tag">recalled</span>}
                    {fact.at && <span class="tag">{fact.at.slice(0, 10)}</span>}
                  </small>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </>
  );
}

export function Recalls({ sample }: { sample: ViewSample }) {
  if (sample.recalls.length === 0) return <p class="empty">The agent recalled nothing.</p>;
  return (
    <>
      {sample.recalls.map((recall, i) => (
        <div key={i} class="recall">
          <p>
            Asked for <q dir="auto">{recall.query}</q>
            {recall.requested_k === undefined ? '' : `, at most ${recall.requested_k}`}:{' '}
            {countText(recall.items.length)} came back.
          </p>
          <ol>
            {recall.items.map((item, j) => (
              <li key={j} dir="auto">
                {item.text} {item.score !== undefined && <small>{item.score.toPrecision(3)}</small>}
              </li>
            ))}
          </ol>
          {(recall.withheld ?? []).length > 0 && (
            <>
              <p>Kept back by the defence:</p>
              <ul>
                {recall.withheld?.map((item, j) => (
                  <li key={j} dir="auto">
                    {item.text}
                  </li>
                ))}
              </ul>
            </>
          )}
        </div>
      ))}
    </>
  );
}

export function Numbers({ sample }: { sample: ViewSample }) {
  return (
    <div class="scroll" role="region" aria-label="Usage" tabIndex={0}>
      <table>
        <caption>Calls by stage</caption>
        <thead>
          <tr>
            {['Stage', 'Calls', 'From cache', 'Retries', 'Tokens in', 'Tokens out', 'USD', 'No price'].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {stages.map((stage) => {
            const { calls, cached_calls, retries, input_tokens, output_tokens, cost_usd, unpriced_calls } =
              sample.usage[stage];
            return (
              <tr key={stage}>
                <th scope="row">{stage}</th>
                {[calls, cached_calls, retries, input_tokens, output_tokens].map((value, i) => (
                  <td key={i}>{countText(value)}</td>
                ))}
                <td>{moneyText(cost_usd)}</td>
                <td>{countText(unpriced_calls)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <dl class="facts-list">
        {Object.entries({
          ...sample.timings,
          ...sample.versions,
          run: sample.run_id,
          job: sample.key,
          agent: sample.agent,
          memory: sample.memory,
          ...(sample.model_version ? { model: sample.model_version } : {}),
          ...(sample.finish_reason ? { 'finish reason': sample.finish_reason } : {}),
        }).map(([name, value]) => (
          <div key={name}>
            <dt>{name.replaceAll('_', ' ')}</dt>
            <dd>
              <bdi>{typeof value === 'number' ? durationText(value) : value}</bdi>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** The same sample in the other arms: what each leaked and told; one can be put beside this one. */
export function Siblings({ sample, route }: { sample: ViewSample; route: SampleRoute }) {
  if (sample.siblings.length < 2) return null;
  const { row: own } = sample;
  const differs = (row: ViewRow) =>
    row.leaked !== own.leaked || row.communicated !== own.communicated || row.helpfulness !== own.helpfulness;
  return (
    <nav class="siblings" aria-label="The same sample in every arm">
      {sample.siblings.map((row) => (
        <span key={row.row} class={`sibling${row.row === own.row ? ' current' : ''}`}>
          <a
            href={routeToHash({ page: 'sample', row: row.row, query: route.query })}
            aria-current={row.row === own.row ? 'page' : undefined}
          >
            <bdi>{row.experiment}</bdi>
          </a>{' '}
          <small>
            {row.status === 'failed'
              ? 'failed'
              : `${row.leaked} leaked, ${row.communicated} told${row.helpfulness === undefined ? '' : `, ${scoreWords[row.helpfulness]}`}`}
            {row.row !== own.row && differs(row) && <span class="tag">differs</span>}
          </small>{' '}
          {row.row !== own.row && (
            <button
              type="button"
              aria-pressed={route.beside === row.experiment}
              onClick={() => {
                const { beside, ...rest } = route;
                go(beside === row.experiment ? rest : { ...rest, beside: row.experiment }, true);
              }}
            >
              beside
            </button>
          )}
        </span>
      ))}
    </nav>
  );
}
