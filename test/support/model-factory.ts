import { systemClock } from '../../src/lib/clock.ts';
import { seededRandom } from '../../src/lib/random.ts';
import { createModelFactory, type ModelFactory, type ModelFactoryOptions } from '../../src/models/create-models.ts';

/** A model factory for tests: real time unless told otherwise, seeded jitter, no environment. */
export function testFactory(options: Partial<ModelFactoryOptions> = {}): ModelFactory {
  return createModelFactory({
    env: {},
    clock: systemClock,
    random: seededRandom('test'),
    maxConnections: 8,
    ...options,
  });
}
