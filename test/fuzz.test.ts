import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fuzzTargets, randomOf, type Targets } from './support/fuzz-targets.ts';

const SEED = 1;
const counts: Readonly<Record<string, number>> = { config: 150, row: 450, record: 600, judge: 800 };

/** `npm run fuzz` does the same with more inputs, in processes of their own that are watched for hangs. */
describe('mutated input', () => {
  let targets: Targets;
  beforeAll(async () => {
    targets = await fuzzTargets();
  });
  afterAll(() => targets.close());

  it.each(Object.entries(counts))(
    'of %s is refused with a reason or read as what it says (%i inputs)',
    {
      timeout: 60_000,
    },
    async (name, count) => {
      const tally = { accepted: 0, refused: 0 };
      const findings: string[] = [];
      for (let n = 0; n < count; n++) {
        let text = '';
        const note = (input: string) => {
          text = input;
        };
        try {
          const trial = targets.all[name] as Targets['all'][string];
          tally[await trial(randomOf(name, SEED, n), note)] += 1;
        } catch (error) {
          findings.push(`n ${n}: ${String(error)}: ${text.slice(0, 300)}`);
        }
      }
      expect(findings).toEqual([]);
      // A fuzzer that is always refused, or never, tries nothing.
      expect(tally.accepted).toBeGreaterThan(count / 50);
      expect(tally.refused).toBeGreaterThan(count / 10);
    },
  );
});
