import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

export interface StartUpResult {
  node_ms: number;
  help_ms: number;
  help_over_node: number;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

function timed(args: readonly string[]): number {
  const since = performance.now();
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' });
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}`);
  return performance.now() - since;
}

/** How long `heams --help` takes beside `node -e 0`: medians of interleaved runs. */
export function startUp(rounds = 21): StartUpResult {
  const node: number[] = [];
  const help: number[] = [];
  for (let i = 0; i < rounds; i++) {
    node.push(timed(['-e', '0']));
    help.push(timed([main, '--help']));
  }
  return { node_ms: median(node), help_ms: median(help), help_over_node: median(help) / median(node) };
}
