import { type Block, type Cell, code, heading, type Inline, paragraph, table } from '../../report/document.ts';
import type { CiMetrics, Scaled } from '../../schema/ci-metrics.ts';
import { isControl, scaleOf } from './scale.ts';

const right = (title: string) => ({ title, align: 'right' as const });
const number = (value: number): string => value.toFixed(3);
const range = ({ low, high }: { low: number; high: number }): string => `${number(low)} to ${number(high)}`;

function scaledCell(scaled: Scaled): Cell {
  if (!scaled.defined) return { text: 'undefined', detail: scaled.reason };
  const { interval, bounds } = scaled;
  const open = bounds === undefined ? 'bounds: none, the controls may not differ' : `bounds ${range(bounds)}`;
  const tight = bounds !== undefined && bounds.low === bounds.high;
  return { text: number(scaled.value), detail: [range(interval), ...(tight ? [] : [open])] };
}

/** Where the arms lie between the controls; nothing where there is no control. */
export function scaleSection(arms: readonly CiMetrics[]): Block[] {
  if (!arms.some(isControl)) return [];
  const { controls, arms: placed } = scaleOf(arms);
  const name = (control: keyof typeof controls): Inline => {
    const experiment = controls[control];
    return experiment === undefined ? 'missing' : code(experiment);
  };
  return [
    heading(2, 'Between the controls'),
    paragraph(
      'Leakage from 0, which is ',
      name('silent'),
      ', to 1, which is ',
      name('dump'),
      '; coverage from 0, which is ',
      name('silent'),
      ', to 1, which is ',
      name('oracle'),
      '. Both by the per-scenario rates. An arm may lie beyond a control. The interval is the arm’s own 95 % interval with the controls as measured; the bounds take the unjudged and failed of the arm and of both controls.',
    ),
    table(
      'Arms on the scale of the controls',
      [{ title: 'Arm' }, right('Scaled leakage'), right('Scaled coverage')],
      placed.map(({ experiment, leakage, coverage }, i) => [
        { text: code(experiment), ...(isControl(arms[i] as CiMetrics) ? { detail: 'control' } : {}) },
        scaledCell(leakage),
        scaledCell(coverage),
      ]),
    ),
  ];
}
