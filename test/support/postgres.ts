import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';

/** A PostgreSQL server of its own, on a loopback port, with one superuser `heams` and its password. */
export interface PostgresServer {
  port: number;
  password: string;
  /** Of a database on the server; `postgres` where none is named. */
  url(database?: string): string;
  /** Stops it and removes its folder; a second call is fine. */
  stop(): Promise<void>;
}

/** Newest first; the folders that packages use, and what the path has. */
function binFolder(): string | undefined {
  const packaged = '/usr/lib/postgresql';
  const versions = existsSync(packaged) ? readdirSync(packaged).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(packaged, version, 'bin')),
    ...(process.env.PATH ?? '').split(':'),
  ];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
}

/** Whom the server runs as: itself refuses to run as root. */
function account(): { uid: number; gid: number } | 'me' | undefined {
  if (process.getuid?.() !== 0) return 'me';
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8', stdio: 'pipe' }));
  try {
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return undefined;
  }
}

const bin = binFolder();
const runAs = account();

/** Whether `startPostgres` can work here. */
export const postgresIsHere = bin !== undefined && runAs !== undefined;

/** A port that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

async function untilItAnswers(url: string, server: ChildProcess, log: () => string): Promise<void> {
  for (;;) {
    if (server.exitCode !== null) throw new Error(`the PostgreSQL server ended:\n${log()}`);
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      return await client.end();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Makes a cluster in a temporary folder and starts it. Call only where `postgresIsHere`. */
export async function startPostgres(): Promise<PostgresServer> {
  if (bin === undefined || runAs === undefined) throw new Error('PostgreSQL is not here');
  const folder = mkdtempSync(join(tmpdir(), 'heams-postgres-'));
  const password = 'p@ss/word of #1';
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password);
  const as = runAs === 'me' ? {} : runAs;
  if (runAs !== 'me') for (const path of [folder, passwordFile]) chownSync(path, runAs.uid, runAs.gid);
  const data = join(folder, 'data');
  const options = { ...as, cwd: folder, env: { PATH: dirname(bin), LC_ALL: 'C.UTF-8', HOME: folder } };
  const auth = ['-U', 'heams', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  execFileSync(join(bin, 'initdb'), ['-D', data, ...auth, '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'], {
    ...options,
    stdio: 'pipe',
  });
  const port = await freePort();
  const where = ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', folder];
  const server = spawn(join(bin, 'postgres'), [...where, '-c', 'fsync=off'], {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [server.stdout, server.stderr]) {
    stream?.on('data', (text: Buffer) => {
      log = (log + text).slice(-10_000);
    });
  }
  const kill = () => server.kill('SIGKILL');
  process.once('exit', kill);
  const url = (database = 'postgres') =>
    `postgresql://heams:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
  const stop = async () => {
    process.off('exit', kill);
    if (server.exitCode === null && server.signalCode === null) {
      const ended = new Promise((resolve) => server.once('close', resolve));
      // Fast shutdown: open connections are ended.
      server.kill('SIGINT');
      await ended;
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilItAnswers(url(), server, () => log);
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, password, url, stop };
}
