import { connect } from 'node:net';
import { HeamsError, messageOf } from './errors.ts';

const ports: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'ws:': 80,
  'wss:': 443,
  'postgres:': 5432,
  'postgresql:': 5432,
  'redis:': 6379,
  'rediss:': 6379,
};

export interface ServerPlace {
  host: string;
  port: number;
}

/** Host and port of an address; nothing where it names none, as a socket file or a list of hosts does. */
export function placeOf(address: string): ServerPlace | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, hostname, port } = new URL(address);
  const known = port === '' ? ports[protocol] : Number(port);
  const host = hostname.replace(/^\[|\]$/g, '');
  return host === '' || known === undefined ? undefined : { host, port: known };
}

/** Whether an address is this machine's own. */
export function isLoopback(address: string): boolean {
  const host = placeOf(address)?.host ?? '';
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * Resolves once a connection is there, which is closed again: somebody listens. What they speak is not looked at.
 *
 * @throws HeamsError `server_unreachable`.
 */
export async function reachServer({ host, port }: ServerPlace, signal: AbortSignal): Promise<void> {
  const socket = connect({ host, port, signal });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', () => resolve());
      socket.once('error', reject);
    });
  } catch (error) {
    const why = signal.aborted ? messageOf(signal.reason) : reasonOf(error);
    throw new HeamsError(`nothing answers at ${host}:${port}: ${why}`, {
      code: 'server_unreachable',
      hint: 'start the server, or mend its address',
      cause: error,
    });
  } finally {
    socket.destroy();
  }
}

/** A host of several addresses fails with one error for each. */
function reasonOf(error: unknown): string {
  const [first] = error instanceof AggregateError ? error.errors : [error];
  return (first as NodeJS.ErrnoException | undefined)?.code ?? messageOf(first);
}
