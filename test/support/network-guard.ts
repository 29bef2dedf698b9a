import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Project } from './project.ts';

/**
 * Loaded before anything else, in every Node process and thread: every look-up of a name, and every connection or
 * datagram that is not loopback, is written down and refused. Programs that are started get the guard too, whatever
 * environment they are given.
 */
const nodeGuard = `
import { appendFileSync } from 'node:fs';
import childProcess from 'node:child_process';
import dgram from 'node:dgram';
import dns from 'node:dns';
import net from 'node:net';
const { GUARD_LOG, NODE_OPTIONS, PYTHONPATH } = process.env;
const inherited = Object.entries({ GUARD_LOG, NODE_OPTIONS, PYTHONPATH }).map(([name, value]) => name + '=' + value);
const seen = (what) => {
  appendFileSync(GUARD_LOG, what + '\\n');
  throw new Error('network guard: ' + what);
};
const local = (host) =>
  host === undefined || host === null || host === '' || host === 'localhost' || host === '::1' || /^127\\./.test(host);
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  const [first] = Array.isArray(args[0]) ? args[0] : args;
  const host = typeof first === 'object' ? first.host : typeof args[1] === 'string' ? args[1] : undefined;
  if (!local(host) && !(typeof first === 'object' && first.path)) seen('connect ' + host);
  return connect.apply(this, args);
};
for (const target of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype]) {
  for (const name of Object.getOwnPropertyNames(target).filter((one) => /^(lookup|resolve|reverse)/.test(one))) {
    const own = target[name];
    if (typeof own !== 'function') continue;
    target[name] = function (host, ...rest) {
      if (!local(host)) seen(name + ' ' + host);
      return own.call(this, host, ...rest);
    };
  }
}
for (const name of ['send', 'connect']) {
  const own = dgram.Socket.prototype[name];
  dgram.Socket.prototype[name] = function (...args) {
    const host = args.find((one, i) => i > 0 && typeof one === 'string');
    if (!local(host)) seen('datagram ' + host);
    return own.apply(this, args);
  };
}
const start = childProcess.ChildProcess.prototype.spawn;
childProcess.ChildProcess.prototype.spawn = function (options) {
  const kept = (options.envPairs ?? []).filter((pair) => !inherited.some((one) => one.split('=')[0] === pair.split('=')[0]));
  return start.call(this, { ...options, envPairs: [...kept, ...inherited] });
};
`;

/** The same for Python, which loads a module of this name when it starts. */
const pythonGuard = `
import os, socket
def _seen(what):
    with open(os.environ["GUARD_LOG"], "a") as log:
        log.write(what + "\\n")
    raise OSError("network guard: " + what)
def _local(host):
    return host in (None, "", "localhost", "::1") or str(host).startswith("127.")
_lookup = socket.getaddrinfo
def _guarded_lookup(host, *rest, **more):
    if not _local(host):
        _seen("lookup " + str(host))
    return _lookup(host, *rest, **more)
socket.getaddrinfo = _guarded_lookup
class _Socket(socket.socket):
    def connect(self, address):
        if isinstance(address, tuple) and not _local(address[0]):
            _seen("connect " + str(address[0]))
        return super().connect(address)
socket.socket = _Socket
`;

export interface Guarded {
  code: number | null;
  stdout: string;
  stderr: string;
  /** What was reached for that is not loopback, a line each. */
  reached: string[];
  /** Everything that is in the home folder, which was empty. */
  home: string[];
}

/** Runs Node with these arguments under the guard, with an empty home folder and no environment but what is given. */
export async function runGuarded(
  project: Project,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Guarded> {
  const log = await project.write('guard/network.log', '');
  const guard = await project.write('guard/guard.mjs', nodeGuard);
  await project.write('guard/python/sitecustomize.py', pythonGuard);
  const home = project.path('home');
  await mkdir(home, { recursive: true });
  const child = spawn(process.execPath, args, {
    cwd: project.dir,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      USERPROFILE: home,
      GUARD_LOG: log,
      NODE_OPTIONS: `--import=${pathToFileURL(guard).href}`,
      PYTHONPATH: join(project.dir, 'guard/python'),
      PYTHONDONTWRITEBYTECODE: '1',
      ...env,
    },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const reached = (await readFile(log, 'utf8')).split('\n').filter(Boolean);
  return { code, stdout, stderr, reached, home: await readdir(home, { recursive: true }) };
}
