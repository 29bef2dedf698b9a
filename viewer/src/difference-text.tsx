import type { ArmComparison, ComparedMetric } from '../../src/schema/ci-comparison.ts';

/** The arm's difference from the baseline, in percentage points; a star where chance alone hardly explains it. */
export function DifferenceText({
  comparison,
  metric,
}: {
  comparison: ArmComparison | undefined;
  metric: ComparedMetric;
}) {
  const found = comparison?.metrics[metric];
  if (!found?.defined) return null;
  const points = (share: number) => `${share > 0 ? '+' : ''}${(share * 100).toFixed(1)}`;
  const { low, high } = found.interval;
  const significant = found.p_holm < 0.05;
  return (
    <small class={significant ? 'difference significant' : 'difference'}>
      {points(found.value)} pp [{points(low)}, {points(high)}]
      {significant && (
        <abbr title={`p = ${found.p_holm.toPrecision(2)} after Holm's correction over the arms`}> ★</abbr>
      )}
    </small>
  );
}
