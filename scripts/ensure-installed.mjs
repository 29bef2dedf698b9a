// Installs what `npm run demo` needs on a fresh clone: what HEAMS depends on and the two bundlers, without install
// scripts. That is a sixth of what the tests need, which include every optional package; `npm ci` brings those.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const builders = ['tsdown', 'vite', 'preact'];

const modified = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const read = (path) => JSON.parse(readFileSync(path, 'utf8'));

function npmCi(cwd, ...options) {
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error', ...options], {
    cwd,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
}

/** The package with fewer needs. The lock file may hold more than they ask for: npm leaves out what nothing needs. */
function reduced({ peerDependencies: _p, peerDependenciesMeta: _m, scripts: _s, devDependencies, ...rest }) {
  return { ...rest, devDependencies: Object.fromEntries(builders.map((name) => [name, devDependencies[name]])) };
}

/** Installs aside, at the versions of the lock file, and moves the result here when it is whole. */
function installForDemo() {
  const aside = mkdtempSync(join(process.cwd(), '.install-'));
  process.once('exit', () => rmSync(aside, { recursive: true, force: true }));
  const lock = read('package-lock.json');
  lock.packages[''] = reduced(lock.packages['']);
  writeFileSync(join(aside, 'package.json'), JSON.stringify(reduced(read('package.json'))));
  writeFileSync(join(aside, 'package-lock.json'), JSON.stringify(lock));
  copyFileSync('.npmrc', join(aside, '.npmrc'));
  npmCi(aside, '--ignore-scripts');
  rmSync('node_modules', { recursive: true, force: true });
  renameSync(join(aside, 'node_modules'), 'node_modules');
}

if (modified('node_modules/.package-lock.json') < modified('package-lock.json')) {
  console.log('Installing dependencies ...');
  // Whoever has everything keeps everything.
  if (existsSync('node_modules/vitest')) npmCi('.');
  else installForDemo();
}
