import { useState } from 'preact/hooks';
import { placeLabels } from '../../src/report/plot-labels.ts';
import type { Rate } from '../../src/schema/rate.ts';
import type { ViewArm } from '../../src/schema/view.ts';
import { countText, percent } from './format.ts';
import { rowsHash } from './route.ts';

type Defined = Extract<Rate, { defined: true }>;

const SIZE = { width: 620, height: 420, left: 56, right: 20, top: 16, bottom: 48 };
const x = (share: number) => SIZE.left + share * (SIZE.width - SIZE.left - SIZE.right);
const y = (share: number) => SIZE.height - SIZE.bottom - share * (SIZE.height - SIZE.top - SIZE.bottom);
const ticks = [0, 0.25, 0.5, 0.75, 1];

interface Point {
  arm: ViewArm;
  leakage: Defined;
  coverage: Defined;
}

/** Points that no other beats in both: less leakage and more coverage. From the least leakage to the most. */
export function paretoFront<P extends { leakage: { value: number }; coverage: { value: number } }>(
  points: readonly P[],
): P[] {
  const sorted = [...points].sort((a, b) => a.leakage.value - b.leakage.value || b.coverage.value - a.coverage.value);
  const front: P[] = [];
  for (const point of sorted) {
    const best = front.at(-1);
    if (!best || point.coverage.value > best.coverage.value) front.push(point);
  }
  return front;
}

function pointsOf(arms: readonly ViewArm[]): Point[] {
  return arms.flatMap((arm) => {
    const leakage = arm.metrics?.leakage.per_scenario;
    const coverage = arm.metrics?.coverage.per_scenario;
    return leakage?.defined && coverage?.defined ? [{ arm, leakage, coverage }] : [];
  });
}

function Axes() {
  return (
    <g>
      {ticks.map((share) => (
        <g key={share}>
          <line class="grid" x1={x(share)} y1={y(0)} x2={x(share)} y2={y(1)} />
          <line class="grid" x1={x(0)} y1={y(share)} x2={x(1)} y2={y(share)} />
          <text x={x(share)} y={y(0) + 18} text-anchor="middle">
            {share * 100} %
          </text>
          <text x={x(0) - 8} y={y(share)} dy="0.35em" text-anchor="end">
            {share * 100} %
          </text>
        </g>
      ))}
      <text class="axis" x={x(0.5)} y={SIZE.height - 8} text-anchor="middle">
        leakage per scenario (left is better)
      </text>
      <text class="axis" transform={`translate(14 ${y(0.5)}) rotate(-90)`} text-anchor="middle">
        coverage per scenario
      </text>
    </g>
  );
}

/** What each arm gives for what it leaks. The numbers are in the table; here is how they lie to each other. */
export function Scatter({ arms }: { arms: readonly ViewArm[] }) {
  const [pointed, setPointed] = useState<string>();
  const points = pointsOf(arms);
  if (points.length === 0) return null;
  const front = paretoFront(points.filter(({ arm }) => !arm.control));
  const marked = points.map(({ arm, leakage, coverage }) => ({
    text: arm.experiment.slice(0, 32),
    x: x(leakage.value),
    y: y(coverage.value),
  }));
  const labels = placeLabels(marked, { turnAt: x(0.62), top: 10, bottom: SIZE.height - SIZE.bottom - 2 });
  return (
    <figure>
      <svg viewBox={`0 0 ${SIZE.width} ${SIZE.height}`} role="group" aria-label="Leakage against coverage by arm">
        <Axes />
        {front.length > 1 && (
          <polyline
            class="front"
            points={front.map(({ leakage, coverage }) => `${x(leakage.value)},${y(coverage.value)}`).join(' ')}
          />
        )}
        {points.map(({ arm, leakage, coverage }, i) => {
          const name = arm.experiment;
          const label = labels[i];
          return (
            <a
              key={name}
              href={rowsHash({ experiments: [name] })}
              class={`point series-${i % 8}${arm.control ? ' reference' : ''}${pointed && pointed !== name ? ' dim' : ''}`}
              aria-label={`${name}: leakage ${percent(leakage.value)}, coverage ${percent(coverage.value)}`}
              onMouseEnter={() => setPointed(name)}
              onMouseLeave={() => setPointed(undefined)}
              onFocus={() => setPointed(name)}
              onBlur={() => setPointed(undefined)}
            >
              <line
                class="interval"
                x1={x(leakage.interval.low)}
                y1={y(coverage.value)}
                x2={x(leakage.interval.high)}
                y2={y(coverage.value)}
              />
              <line
                class="interval"
                x1={x(leakage.value)}
                y1={y(coverage.interval.low)}
                x2={x(leakage.value)}
                y2={y(coverage.interval.high)}
              />
              <circle cx={x(leakage.value)} cy={y(coverage.value)} r="5" />
              <text class="label" x={label?.x} y={label?.y} text-anchor={label?.end ? 'end' : 'start'}>
                {label?.text}
              </text>
            </a>
          );
        })}
      </svg>
      <figcaption>
        Leakage against coverage, with 95 % intervals. The line joins the arms that no other beats in both; hollow
        points are controls.
      </figcaption>
    </figure>
  );
}

const steps = ['items', 'stored', 'recalled', 'disclosed'] as const;
const stepWords = { items: 'annotated', stored: 'stored', recalled: 'recalled', disclosed: 'disclosed' } as const;

/** Samples with at least one such secret; every sample has annotated and stored ones. */
const stepFlags = { items: {}, stored: {}, recalled: { recalled: true }, disclosed: { leaked: true } } as const;

/** Where secrets stop: kept by the memory, or by the agent. */
export function Funnels({ arms }: { arms: readonly ViewArm[] }) {
  return (
    <figure class="funnels">
      {arms.map(({ experiment, metrics }) => {
        const secret = metrics?.exposure.secret;
        if (!secret || secret.items === 0) return null;
        return (
          <div key={experiment} class="funnel">
            <strong>
              <bdi>{experiment}</bdi>
            </strong>
            {steps.map((step) => (
              <div key={step} class="step">
                <span>{stepWords[step]}</span>
                <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                  <rect class="track" width="100" height="10" />
                  <rect class="bar" width={(100 * secret[step]) / secret.items} height="10" />
                </svg>
                <a
                  class="count"
                  href={rowsHash({ experiments: [experiment], flags: stepFlags[step] })}
                  aria-label={`${experiment}: ${countText(secret[step])} secrets ${stepWords[step]}`}
                >
                  {countText(secret[step])}
                </a>
              </div>
            ))}
          </div>
        );
      })}
      <figcaption>How far secrets came: into the memory, to the agent, into the message.</figcaption>
    </figure>
  );
}

const tagWords = (tag: string) => tag.replaceAll('_', ' ');

/** Leakage by the values of a tag, an arm's bar beside the other arms'. */
export function BreakdownChart({ arms, tag }: { arms: readonly ViewArm[]; tag: string }) {
  const broken = arms.flatMap((arm) => {
    const values = arm.metrics?.breakdowns.find((one) => one.tag === tag)?.values ?? [];
    return values.length > 0 && !arm.control ? [{ arm, values }] : [];
  });
  const shown =
    broken.length > 0
      ? broken
      : arms.flatMap((arm) => {
          const values = arm.metrics?.breakdowns.find((one) => one.tag === tag)?.values ?? [];
          return values.length > 0 ? [{ arm, values }] : [];
        });
  const names = [...new Set(shown.flatMap(({ values }) => values.map(({ value }) => value)))];
  if (names.length < 2) return null;
  return (
    <figure class="breakdown">
      <div class="scroll" role="region" aria-label={`Leakage by ${tagWords(tag)}`} tabIndex={0}>
        <table>
          <caption>Leakage per scenario by {tagWords(tag)}</caption>
          <thead>
            <tr>
              <th scope="col">{tagWords(tag)}</th>
              {shown.map(({ arm }) => (
                <th key={arm.experiment} scope="col">
                  <bdi>{arm.experiment}</bdi>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {names.map((name) => (
              <tr key={name}>
                <th scope="row">
                  <bdi>{name || '(none)'}</bdi>
                </th>
                {shown.map(({ arm, values }) => {
                  const rate = values.find(({ value }) => value === name)?.leakage.per_scenario;
                  return (
                    <td key={arm.experiment}>
                      {rate?.defined ? (
                        <a href={rowsHash({ experiments: [arm.experiment], tags: { [tag]: [name] } })} class="bar-cell">
                          <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                            <rect class="track" width="100" height="10" />
                            <rect class="bar" width={100 * rate.value} height="10" />
                          </svg>
                          {percent(rate.value)} <small>of {countText(rate.denominator)}</small>
                        </a>
                      ) : (
                        <small>{rate ? 'undefined' : 'none'}</small>
                      )}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
