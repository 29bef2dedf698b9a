// Builds `dist/` by tsdown.config.ts and the viewer's page by viewer/vite.config.ts; says something only when it fails.
// `--no-types` leaves the library's types out, which take ten times as long as the rest.
import { copyFile } from 'node:fs/promises';
import { build } from 'tsdown';
import { build as buildPage, loadConfigFromFile } from 'vite';

await build({ logLevel: 'error', ...(process.argv.includes('--no-types') ? { dts: false } : {}) });
const page = await loadConfigFromFile(
  { command: 'build', mode: 'production' },
  'viewer/vite.config.ts',
  undefined,
  'error',
);
await buildPage(page?.config);
await copyFile('viewer/index.html', 'dist/viewer/index.html');
