import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { HeamsError } from '../lib/errors.ts';

export interface Asset {
  type: string;
  body: Uint8Array;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/** The files of the built page by path. They are few and small; nothing else can be asked for. */
export async function loadAssets(dir: string): Promise<Map<string, Asset>> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true }).catch((cause: unknown) => {
    throw new HeamsError('the page of the viewer is not built', {
      code: 'view_not_built',
      where: { file: dir },
      hint: 'run `npm run build`',
      cause,
    });
  });
  const assets = new Map<string, Asset>();
  for (const entry of entries) {
    const type = types[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const file = join(entry.parentPath, entry.name);
    assets.set(relative(dir, file).split(sep).join('/'), { type, body: await readFile(file) });
  }
  return assets;
}
