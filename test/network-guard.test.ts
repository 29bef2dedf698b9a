import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { makeProject } from './support/project.ts';

const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

/** Loaded before HEAMS: every look-up of a name and every connection that is not loopback is written down and refused. */
const guard = `
import dns from 'node:dns';
import net from 'node:net';
import { appendFileSync } from 'node:fs';
const seen = (what) => {
  appendFileSync(process.env.GUARD_LOG, what + '\\n');
  throw new Error('network guard: ' + what);
};
const local = (host) => host === undefined || host === 'localhost' || host === '::1' || /^127\\./.test(host);
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  const [first] = Array.isArray(args[0]) ? args[0] : args;
  const host = typeof first === 'object' ? first.host : typeof args[1] === 'string' ? args[1] : undefined;
  if (!local(host) && !(typeof first === 'object' && first.path)) seen('connect ' + host);
  return connect.apply(this, args);
};
for (const target of [dns, dns.promises]) {
  const lookup = target.lookup;
  target.lookup = function (host, ...rest) {
    if (!local(host)) seen('lookup ' + host);
    return lookup.call(this, host, ...rest);
  };
}
`;

describe('every built-in arm', () => {
  it('reaches no host that its config does not name', { timeout: 120_000 }, async () => {
    const project = await makeProject();
    try {
      const log = project.path('network.log');
      await writeFile(log, '');
      await writeFile(project.path('guard.mjs'), guard);
      const child = spawn(process.execPath, ['--import', project.path('guard.mjs'), main, 'demo', '--json'], {
        cwd: project.dir,
        env: { PATH: process.env.PATH ?? '', HOME: project.dir, GUARD_LOG: log },
      });
      let stdout = '';
      child.stdout.on('data', (text) => {
        stdout += text;
      });
      const code = await new Promise((resolve) => child.once('close', resolve));
      const { readFile } = await import('node:fs/promises');
      expect(await readFile(log, 'utf8')).toBe('');
      expect(code).toBe(0);
      const { experiments } = JSON.parse(stdout) as { experiments: { experiment: string; done: number }[] };
      expect(experiments.map(({ done }) => done)).toEqual(experiments.map(() => 72));
      expect(experiments.length).toBe(8);
    } finally {
      await project.remove();
    }
  });

  it('is guarded for real: the guard refuses another host', async () => {
    const project = await makeProject();
    try {
      const log = project.path('network.log');
      await writeFile(log, '');
      await writeFile(project.path('guard.mjs'), guard);
      const script =
        "await fetch('http://192.0.2.1/').catch(() => {}); await fetch('http://heams.invalid/').catch(() => {});";
      const child = spawn(
        process.execPath,
        ['--import', project.path('guard.mjs'), '--input-type=module', '-e', script],
        { env: { PATH: process.env.PATH ?? '', GUARD_LOG: log } },
      );
      await new Promise((resolve) => child.once('close', resolve));
      const { readFile } = await import('node:fs/promises');
      const lines = (await readFile(log, 'utf8')).trim().split('\n');
      expect(lines.some((line) => line.endsWith('192.0.2.1'))).toBe(true);
      expect(lines.some((line) => line.endsWith('heams.invalid'))).toBe(true);
    } finally {
      await project.remove();
    }
  });
});
