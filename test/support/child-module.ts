import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { packageRoot } from '../../src/lib/shipped.ts';

export interface ChildModule {
  process: ChildProcess;
  /** The next line that it prints. */
  line(): Promise<string>;
  /** Kills it and waits until it is gone. */
  kill(): Promise<void>;
}

export interface ChildModuleOptions {
  /** Largest file that it may write, in blocks of 512 bytes: a disk that is full after so much. POSIX shells only. */
  fileBlocks?: number;
}

/** Runs TypeScript in a process of its own, from the repository's root: import from `./src/...`. It dies with its input. */
export function childModule(code: string, options: ChildModuleOptions = {}): ChildModule {
  const args = [
    '--import',
    'tsx',
    '--input-type=module',
    '-e',
    `process.stdin.on('end', process.exit).resume();${code}`,
  ];
  const env = { ...process.env, TSX_DISABLE_CACHE: '1' };
  const limit = `ulimit -f ${options.fileBlocks}; exec "$0" "$@"`;
  const [command, rest] =
    options.fileBlocks === undefined ? [process.execPath, args] : ['sh', ['-c', limit, process.execPath, ...args]];
  const child = spawn(command, rest, { cwd: packageRoot(), env, stdio: ['pipe', 'pipe', 'pipe'] });
  const exit = once(child, 'exit');
  const closed = once(child, 'close').then(() => 'closed' as const);
  let printed = '';
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  return {
    process: child,
    async line() {
      while (!printed.includes('\n')) {
        const event = await Promise.race([once(child.stdout, 'data'), closed]);
        if (event === 'closed' && !printed.includes('\n')) throw new Error(`ended without a line: ${errors}`);
      }
      const end = printed.indexOf('\n');
      const line = printed.slice(0, end);
      printed = printed.slice(end + 1);
      return line;
    },
    async kill() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}
