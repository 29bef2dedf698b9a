import { useEffect, useState } from 'preact/hooks';
import { type PageProps, Problem } from './app.tsx';
import { countText } from './format.ts';
import { shownOf, useKeys, useLoaded } from './hooks.ts';
import { Legend, Message } from './message.tsx';
import { go, routeToHash } from './route.ts';
import { useLabels, useNeighbours } from './sample-hooks.ts';
import { Facts, Numbers, Recalls, type SampleRoute, Section, Siblings } from './sample-parts.tsx';
import { Helpfulness, Items } from './verdicts.tsx';

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
  const { position, matched, move, seek } = useNeighbours(props, route);
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
          {position !== undefined && matched !== undefined && (
            <span class="note">
              {' '}
              {countText(position + 1)} of {countText(matched)}
            </span>
          )}
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
