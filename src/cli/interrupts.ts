import { exit, type Io } from './io.ts';

const GRACE_MS = 5000;

/** The user asked to stop: nobody's mistake and no defect. */
export class Interrupted extends Error {
  constructor() {
    super('interrupted');
    this.name = 'Interrupted';
  }
}

export interface Interrupts {
  /** Aborted by the first Ctrl-C: start nothing more. */
  stop: AbortSignal;
  /** Aborted five seconds later: give up what is under way. */
  signal: AbortSignal;
  /** Whether the user has asked to stop. */
  readonly asked: boolean;
  release(): void;
}

/** Ctrl-C once: stop cleanly, within five seconds. Twice: now. SIGTERM counts as the first. */
export function watchInterrupts(io: Io): Interrupts {
  const stop = new AbortController();
  const signal = new AbortController();
  let grace: NodeJS.Timeout | undefined;
  const onSignal = () => {
    if (stop.signal.aborted) process.exit(exit.interrupted);
    io.note('\nStopping: nothing new is started, what is under way gets 5 s. Press Ctrl-C again to stop now.');
    stop.abort(new Interrupted());
    grace = setTimeout(() => signal.abort(new Interrupted()), GRACE_MS);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    stop: stop.signal,
    signal: signal.signal,
    get asked() {
      return stop.signal.aborted;
    },
    release: () => {
      clearTimeout(grace);
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}
