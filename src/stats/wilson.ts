/** 97.5 % point of the standard normal distribution. */
export const Z95 = 1.959963984540054;

/**
 * Score interval of a share, 95 %: E. B. Wilson, "Probable inference, the law of succession, and statistical
 * inference", JASA 22 (1927), 209-212, without continuity correction (Newcombe 1998, method 3).
 *
 * `successes` may be a fraction (an effective count); 0 <= successes <= trials and trials > 0, else a RangeError.
 * The interval lies in [0, 1] and holds successes / trials.
 */
export function wilsonInterval(successes: number, trials: number): { low: number; high: number } {
  if (!(trials > 0 && successes >= 0 && successes <= trials && Number.isFinite(trials))) {
    throw new RangeError(`a share needs 0 <= successes <= trials and trials > 0; got ${successes} of ${trials}`);
  }
  const share = successes / trials;
  const z2 = Z95 * Z95;
  const centre = 2 * successes + z2;
  const spread = Z95 * Math.sqrt(z2 + 4 * successes * (1 - share));
  const scale = 2 * (trials + z2);
  // The clamps only mend the last bit: at the ends the exact bound is the share itself.
  return {
    low: Math.max(0, Math.min(share, (centre - spread) / scale)),
    high: Math.min(1, Math.max(share, (centre + spread) / scale)),
  };
}

/**
 * An interval of a share over clusters that is at least as careful as with clusters that are all alike, where each counts
 * once: it reaches up to the upper limit of 0 of `clusters`, and down to the lower limit of all of them. Without this the
 * first hit would make the interval more certain than none at all, as single hits in different clusters show no sign
 * that the observations of a cluster go together. It only ever widens, and only shares near 0 and 1.
 */
export function widenedAtEdges({ low, high }: { low: number; high: number }, clusters: number) {
  return {
    low: Math.min(low, wilsonInterval(clusters, clusters).low),
    high: Math.max(high, wilsonInterval(0, clusters).high),
  };
}
