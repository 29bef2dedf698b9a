import { useEffect, useState } from 'preact/hooks';
import { stages } from '../../src/schema/usage.ts';
import type { LabelChange, ViewRow, ViewSample } from '../../src/schema/view.ts';
import { type PageProps, Problem } from './app.tsx';
import { countText, durationText, moneyText, scoreWords } from './format.ts';
import { shownOf, useKept, useKeys, useLoaded } from './hooks.ts';
import { Legend, Message } from './message.tsx';
import { go, type Route, routeToHash } from './route.ts';
import { Helpfulness, Items } from './verdicts.tsx';

type SampleRoute = Extract<Route, { page: 'sample' }>;

function Section({ title, open, children }: { title: string; open?: boolean; children: preact.ComponentChildren }) {
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
function Facts({ sample }: { sample: ViewSample }) {
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

function Recalls({ sample }: { sample: ViewSample }) {
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

function Numbers({ sample }: { sample: ViewSample }) {
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
function Siblings({ sample, route }: { sample: ViewSample; route: SampleRoute }) {
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

function useLabels({ api, overview, revision }: PageProps, row: ViewRow | undefined) {
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
function useNeighbours({ api }: PageProps, { row, query }: SampleRoute) {
  const position = shownOf(useLoaded(() => api.positionOf(query, row), [api, row, JSON.stringify(query)]));
  const openAt = async (at: number | undefined) => {
    if (at === undefined || at < 0) return;
    const found = (await api.rows(query, at, 1)).rows[0];
    if (found) go({ page: 'sample', row: found.row, query });
  };
  const move = (step: 1 | -1) => void openAt((position ?? 0) + step);
  const seek = (step: 1 | -1) => void api.seek(query, (position ?? 0) + step, step, 'leaked').then(openAt, () => {});
  return { position, move, seek };
}

export function SamplePage(props: PageProps & { route: SampleRoute }) {
  const { api, route, revision } = props;
  const loaded = useLoaded(() => api.sample(route.row), [api, route.row, revision]);
  const sample = shownOf(loaded);
  const besideRow = sample?.siblings.find(({ experiment }) => experiment === route.beside)?.row;
  const beside = shownOf(
    useLoaded(
      () => (besideRow === undefined ? Promise.resolve(undefined) : api.sample(besideRow)),
      [api, besideRow, revision],
    ),
  );
  const { position, move, seek } = useNeighbours(props, route);
  const { current, labelOf, set, rater, setRater, error } = useLabels(props, sample?.row);
  const [selected, setSelected] = useState<number>(0);
  useEffect(() => setSelected(0), [route.row]);
  const chosen = sample?.items[selected];
  const chosenId = chosen && `${chosen.side}:${chosen.key}`;
  const label = (word: 'yes' | 'no' | 'unsure') =>
    chosenId && set?.(chosenId, labelOf(chosenId)?.label === word ? null : word);
  const step = (by: 1 | -1) => {
    const count = sample?.items.length ?? 0;
    if (count === 0) return;
    const next = (selected + by + count) % count;
    setSelected(next);
    const item = sample?.items[next];
    if (item) document.getElementById(`item-${item.side}:${item.key}`)?.scrollIntoView({ block: 'nearest' });
  };
  useKeys({
    ArrowDown: () => move(1),
    j: () => move(1),
    ArrowUp: () => move(-1),
    k: () => move(-1),
    n: () => seek(1),
    p: () => seek(-1),
    ']': () => step(1),
    '[': () => step(-1),
    y: () => void label('yes'),
    x: () => void label('no'),
    u: () => void label('unsure'),
    Escape: () => go({ page: 'samples', query: route.query }),
  });

  if (loaded.state === 'failed') return <Problem>This record cannot be read: {loaded.error}</Problem>;
  if (!sample) return <p class="loading">Reading the record</p>;
  const { row } = sample;
  return (
    <article class="sample">
      <div class="page-head">
        <p class="crumbs">
          <a href={routeToHash({ page: 'samples', query: route.query })}>← Samples</a>
          {position !== undefined && <span class="note"> {countText(position + 1)} in this list</span>}
          <span class="steps">
            <button type="button" onClick={() => move(-1)}>
              Previous
            </button>
            <button type="button" onClick={() => move(1)}>
              Next
            </button>
            <button type="button" onClick={() => seek(1)}>
              Next leak
            </button>
          </span>
        </p>
        <h1>
          Sample <bdi>{row.sample_id}</bdi>
          {row.repeat > 0 && ` #${row.repeat}`}{' '}
          <small>
            in <bdi>{row.experiment}</bdi>
          </small>
        </h1>
        <p class="task" dir="auto">
          {sample.task}
        </p>
        <p class="tags">
          {Object.entries(row.tags).map(([name, value]) => (
            <span key={name} class="tag">
              {name.replaceAll('_', ' ')}: <bdi>{value}</bdi>
            </span>
          ))}
          {sample.defence && <span class="tag">defence: {sample.defence}</span>}
        </p>
      </div>
      <Siblings sample={sample} route={route} />
      {sample.error && (
        <Problem>
          Failed at {sample.error.stage} ({sample.error.code}): {sample.error.message}
        </Problem>
      )}
      <div class={beside ? 'side-by-side' : ''}>
        <section aria-label={`Message of ${row.experiment}`}>
          {beside && (
            <h2>
              <bdi>{row.experiment}</bdi>
            </h2>
          )}
          {sample.message === undefined ? (
            <p class="empty">There is no message.</p>
          ) : (
            <Message text={sample.message} spans={sample.spans} label="Message" />
          )}
        </section>
        {beside && (
          <section aria-label={`Message of ${beside.row.experiment}`}>
            <h2>
              <bdi>{beside.row.experiment}</bdi>
            </h2>
            {beside.message === undefined ? (
              <p class="empty">There is no message.</p>
            ) : (
              <Message text={beside.message} spans={beside.spans} label={`Message of ${beside.row.experiment}`} />
            )}
          </section>
        )}
      </div>
      <Legend />
      {set && (
        <p class="rater">
          <label>
            Label as{' '}
            <input
              value={rater}
              placeholder="me"
              maxLength={100}
              onChange={(event) => setRater(event.currentTarget.value.trim())}
            />
          </label>{' '}
          <kbd>[</kbd> <kbd>]</kbd> choose a value, <kbd>y</kbd> it is told, <kbd>x</kbd> it is not, <kbd>u</kbd>{' '}
          unsure.{' '}
          {current && current.agreement.compared > 0 && (
            <span aria-live="polite">
              Agreement with the judge: {current.agreement.agree} of {current.agreement.compared}
              {current.agreement.kappa === undefined ? '' : `, kappa ${current.agreement.kappa.toFixed(2)}`}.
            </span>
          )}
          {error && <span class="problem"> The label was not saved: {error}</span>}
        </p>
      )}
      <div class="columns">
        <section aria-label="Secrets">
          <h2>
            Secrets{' '}
            <small>
              {row.leaked} of {row.secrets} leaked
            </small>
          </h2>
          <Items sample={sample} side="secret" selected={chosenId} labelOf={labelOf} set={set} />
        </section>
        <section aria-label="Fields">
          <h2>
            Allowed{' '}
            <small>
              {row.communicated} of {row.fields} told
            </small>
          </h2>
          <Items sample={sample} side="field" selected={chosenId} labelOf={labelOf} set={set} />
        </section>
        <section aria-label="Helpfulness">
          <h2>Helpfulness</h2>
          <Helpfulness sample={sample} labelOf={labelOf} set={set} />
        </section>
      </div>
      <Section title="Facts of the scenario" open>
        <Facts sample={sample} />
      </Section>
      <Section title="What was recalled" open>
        <Recalls sample={sample} />
      </Section>
      {sample.reasoning !== undefined && (
        <Section title="Reasoning, which is not sent">
          <pre dir="auto">{sample.reasoning}</pre>
        </Section>
      )}
      {sample.draft !== undefined && (
        <Section title="Draft, before the defence">
          <pre dir="auto">{sample.draft}</pre>
        </Section>
      )}
      <Section title="Prompt">
        {sample.prompt.length === 0 ? (
          <p class="empty">No model was asked.</p>
        ) : (
          sample.prompt.map((turn, i) => (
            <div key={i}>
              <h3>{turn.role}</h3>
              <pre dir="auto">{turn.content}</pre>
            </div>
          ))
        )}
      </Section>
      {sample.tool_calls.length > 0 && (
        <Section title="Tool calls">
          {sample.tool_calls.map((call, i) => (
            <div key={i}>
              <h3>
                <bdi>{call.name}</bdi>
              </h3>
              <pre dir="auto">{JSON.stringify(call.input, null, 2)}</pre>
              <pre dir="auto">{call.output}</pre>
            </div>
          ))}
        </Section>
      )}
      <Section title="Usage, time and versions">
        <Numbers sample={sample} />
        {sample.warnings.length > 0 && (
          <ul>
            {sample.warnings.map((warning, i) => (
              <li key={i}>{warning}</li>
            ))}
          </ul>
        )}
      </Section>
    </article>
  );
}
