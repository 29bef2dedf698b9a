import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { LoopbackFaults, LoopbackStats } from './loopback-chat.ts';

export interface SpawnedLoopback {
  url: string;
  baseUrl: string;
  port: number;
  stats(): Promise<LoopbackStats>;
  close(): Promise<void>;
}

/** The same server in a process of its own, so that its work is not counted as the client's. It dies with this one. */
export async function spawnLoopback(
  options: { latencyMs?: number; faults?: LoopbackFaults; maxInFlight?: number } = {},
): Promise<SpawnedLoopback> {
  const args = [
    '--import',
    'tsx',
    fileURLToPath(new URL('./loopback-chat.ts', import.meta.url)),
    '--latency',
    String(options.latencyMs ?? 0),
  ];
  if (options.faults) args.push('--faults', JSON.stringify(options.faults));
  if (options.maxInFlight !== undefined) args.push('--max-in-flight', String(options.maxInFlight));
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout?.once('data', (line: Buffer) => resolve(Number(line.toString())));
    child.once('exit', (code) => reject(new Error(`the loopback server ended with ${code}`)));
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    baseUrl: `${url}/v1`,
    port,
    stats: async () => (await (await fetch(`${url}/stats`)).json()) as LoopbackStats,
    close: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill();
      }),
  };
}
