import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

export interface StartUpResult {
  node_ms: number;
  help_ms: number;
  help_over_node: number;
  validate_ms: number;
  validate_over_node: number;
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

const demo = fileURLToPath(new URL('../configs/runs/demo.yaml', import.meta.url));

/** How long `heams --help` and `heams validate` of the demo take beside `node -e 0`: medians of interleaved runs. */
export function startUp(rounds = 21): StartUpResult {
  const node: number[] = [];
  const help: number[] = [];
  const validate: number[] = [];
  for (let i = 0; i < rounds; i++) {
    node.push(timed(['-e', '0']));
    help.push(timed([main, '--help']));
    validate.push(timed([main, 'validate', '--config', demo]));
  }
  const base = median(node);
  return {
    node_ms: base,
    help_ms: median(help),
    help_over_node: median(help) / base,
    validate_ms: median(validate),
    validate_over_node: median(validate) / base,
  };
}
