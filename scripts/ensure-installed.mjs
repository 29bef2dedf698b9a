// Installs the dependencies where they are missing or older than the lock file, so that `npm run demo` works on a fresh clone.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';

const modified = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
if (modified('node_modules/.package-lock.json') < modified('package-lock.json')) {
  console.log('Installing dependencies ...');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  process.exit(status ?? 1);
}
