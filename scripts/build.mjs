// Builds `dist/` by tsdown.config.ts and the viewer's page by viewer/vite.config.ts; says something only when it fails.
import { copyFile } from 'node:fs/promises';
import { build } from 'tsdown';
import { build as buildPage, loadConfigFromFile } from 'vite';

await build({ logLevel: 'error' });
const page = await loadConfigFromFile({ command: 'build', mode: 'production' }, 'viewer/vite.config.ts', undefined, 'error');
await buildPage(page?.config);
await copyFile('viewer/index.html', 'dist/viewer/index.html');
