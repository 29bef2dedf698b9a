import { join } from 'node:path';
import type { Host } from '../config/assemble.ts';
import { systemClock } from '../lib/clock.ts';
import { packageRoot } from '../lib/shipped.ts';
import type { Io } from './io.ts';

/** The real world, for a command. */
export function hostOf(io: Io): Host {
  return {
    env: io.env,
    clock: systemClock,
    random: Math.random,
    folders: { datasets: join(io.cwd, 'datasets'), shipped: join(packageRoot(), 'datasets') },
  };
}
