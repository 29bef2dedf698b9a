import { type ChildProcess, spawn } from 'node:child_process';

const windows = process.platform === 'win32';

/** How a program is started so that all that it starts can be ended with it: in a group of its own. */
export const ownGroup = { detached: !windows, windowsHide: true } as const;

/** Kills a program with its whole group; one that is gone already is fine. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (windows) child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {}
}

/** Lets go of a program: nothing happens to it any more. */
export type Release = () => void;

/**
 * Ends a program's group when this process ends, however it ends, and removes the program's folder: a program that hangs
 * must not outlive HEAMS, nor what it was told. A shell waits for the end of a pipe that this process alone holds open.
 * Not on Windows, where the end of the program's input must do.
 */
export function guardProcess(pid: number | undefined, folder: string | undefined): Release {
  if (windows || pid === undefined) return () => {};
  const script = 'while read -r _; do :; done; kill -KILL "-$1"; [ -z "$2" ] || { sleep 0.2; rm -rf -- "$2"; }';
  const guard = spawn('/bin/sh', ['-c', script, 'sh', String(pid), folder ?? ''], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: { PATH: '/usr/bin:/bin' },
  });
  guard.once('error', () => {});
  guard.stdin?.on('error', () => {});
  return () => guard.kill('SIGKILL');
}
