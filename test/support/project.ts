import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import type { Host } from '../../src/config/assemble.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { packageRoot } from '../../src/lib/shipped.ts';

/** A folder of its own for one test. */
export interface Project {
  dir: string;
  path(...parts: string[]): string;
  write(name: string, content: string | object): Promise<string>;
  remove(): Promise<void>;
}

export async function makeProject(files: Record<string, string | object> = {}): Promise<Project> {
  const dir = await mkdtemp(join(tmpdir(), 'heams-'));
  const write = async (name: string, content: string | object) => {
    const file = join(dir, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, typeof content === 'string' ? content : stringify(content));
    return file;
  };
  for (const [name, content] of Object.entries(files)) await write(name, content);
  return {
    dir,
    path: (...parts) => join(dir, ...parts),
    write,
    remove: () => rm(dir, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** The world as a test hands it in: the real clock, no environment but what is given. */
export function testHost(dir: string, env: Record<string, string> = {}): Host {
  return {
    env,
    clock: systemClock,
    random: () => 0.5,
    folders: { datasets: join(dir, 'datasets'), shipped: join(packageRoot(), 'datasets') },
  };
}

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface CliResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface CliRun {
  kill(signal: NodeJS.Signals): void;
  pid: number | undefined;
  /** Resolves once the text has been printed, on either stream. */
  printed(text: string): Promise<void>;
  /** Standard output so far. */
  output(): string;
  result: Promise<CliResult>;
}

/** Starts the built command line in a folder, with no environment but a path and what is given. */
export function startCli(args: readonly string[], cwd: string, env: Record<string, string> = {}): CliRun {
  const child = spawn(process.execPath, [main, ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: cwd, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const result = new Promise<CliResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return {
    pid: child.pid,
    kill: (signal) => {
      child.kill(signal);
    },
    printed: async (text) => {
      while (!stdout.includes(text) && !stderr.includes(text)) {
        if (child.exitCode !== null) throw new Error(`ended without printing "${text}":\n${stdout}\n${stderr}`);
        await systemClock.sleep(10);
      }
    },
    output: () => stdout,
    result,
  };
}

export const runCli = (args: readonly string[], cwd: string, env: Record<string, string> = {}): Promise<CliResult> =>
  startCli(args, cwd, env).result;

/** The complete lines of a `runs.jsonl`, parsed. */
export async function readJsonLines(file: string): Promise<Record<string, unknown>[]> {
  const text = await readFile(file, 'utf8');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
