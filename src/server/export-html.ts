import { createHash } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HeamsError } from '../lib/errors.ts';
import { rowQuerySchema } from '../schema/view.ts';
import { exportFilesOf } from '../view/export-files.ts';
import { MAX_ROWS, type ViewApi } from '../view/view-api.ts';
import type { Asset } from './assets.ts';

/** Records beyond this are too many for one file that a mail program and a browser are to open. */
const MOST_IN_ONE_FILE = 2000;

type Data = AsyncGenerator<[name: string, value: unknown]>;

/** Everything that the page may ask for, a file at a time: nothing is held but one file's worth. */
async function* dataOf(view: ViewApi, total: number): Data {
  const files = exportFilesOf();
  const overview = await view.overview();
  yield [files.overview, overview];
  for (const [i, { experiment, metrics }] of overview.arms.entries()) {
    const comparison = metrics ? await view.differences(experiment) : undefined;
    yield [files.differences(i), comparison ?? null];
  }
  const all = rowQuerySchema.parse({});
  for (const [i, name] of files.rows(total).entries()) {
    const end = Math.min(total, (i + 1) * files.rowsPerFile);
    const rows = [];
    for (let at = i * files.rowsPerFile; at < end; at += MAX_ROWS) {
      rows.push(...(await view.rows(all, at, Math.min(MAX_ROWS, end - at))).rows);
    }
    yield [name, rows];
  }
  yield* samplesOf(view, total);
}

/** The samples, and beside them their messages for the search. */
async function* samplesOf(view: ViewApi, total: number): Data {
  const files = exportFilesOf();
  let texts: [number, string][] = [];
  let samples = [];
  for (let row = 0; row < total; row++) {
    const sample = await view.sample(row);
    samples.push(sample);
    texts.push([row, (sample.message ?? '').toLowerCase()]);
    const last = row === total - 1;
    if (last || samples.length === files.samplesPerFile) {
      yield [files.sample(row)[0], samples];
      samples = [];
    }
    if (last || texts.length === files.rowsPerFile) {
      yield [files.texts(total)[Math.floor(row / files.rowsPerFile)] as string, texts];
      texts = [];
    }
  }
}

const textOf = (assets: ReadonlyMap<string, Asset>, name: string): string => {
  const asset = assets.get(name);
  if (asset) return Buffer.from(asset.body).toString('utf8');
  throw new HeamsError(`the page of the viewer lacks ${name}`, { code: 'view_not_built', hint: 'run `npm run build`' });
};

const mark = '<meta name="heams-export" content="1">';
const policy = (script: string, style: string): string =>
  `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${script}; style-src ${style}; ` +
  `img-src data:; base-uri 'none'; form-action 'none'">`;

export interface ExportOptions {
  /** A view that is not live; masked or not. */
  view: ViewApi;
  assets: ReadonlyMap<string, Asset>;
  /** The folder to write, or the file where everything goes into one. */
  output: string;
  singleFile: boolean;
}

async function writable(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true });
  const known = new Set(['index.html', 'page.js', 'page.css', 'data']);
  const foreign = (await readdir(dir)).filter((name) => !known.has(name));
  if (foreign.length === 0) return;
  throw new HeamsError('the folder for the export holds other files', {
    code: 'export_not_empty',
    where: { file: dir },
    expected: 'a new folder, an empty one, or an earlier export',
    found: foreign.slice(0, 5).join(', '),
    hint: 'choose another folder',
  });
}

/** JSON that may stand in a script or a page: nothing in it can end either. */
const inert = (value: unknown): string =>
  JSON.stringify(value)
    .replace(/</g, '\\u003c')
    .replace(/\u2028/g, '\\u2028')
    .replace(/\u2029/g, '\\u2029');

async function writeFolder({ view, assets, output }: ExportOptions, total: number): Promise<string> {
  await writable(output);
  const data = join(output, 'data');
  await mkdir(data, { recursive: true });
  for await (const [name, value] of dataOf(view, total)) {
    await writeFile(join(data, `${name}.js`), `heamsData(${JSON.stringify(name)}, ${inert(inert(value))});\n`);
  }
  const page = textOf(assets, 'index.html').replace(
    '<title>',
    `${policy("'self' file:", "'self' file:")}\n${mark}\n<title>`,
  );
  for (const name of ['page.js', 'page.css']) await writeFile(join(output, name), textOf(assets, name));
  const index = join(output, 'index.html');
  await writeFile(index, page);
  return index;
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

async function writeSingle({ view, assets, output }: ExportOptions, total: number): Promise<string> {
  if (total > MOST_IN_ONE_FILE) {
    throw new HeamsError(`${total} records are too many for a single file`, {
      code: 'export_too_large',
      expected: `at most ${MOST_IN_ONE_FILE} records`,
      found: String(total),
      hint: 'leave --single-file out: a folder holds any number',
    });
  }
  // Neither script nor style may hold what ends its element; the build's own output never does but for a string.
  const script = textOf(assets, 'page.js')
    .replace(/<\/script/gi, '<\\/script')
    .replace(/<!--/g, '<\\!--');
  const style = textOf(assets, 'page.css').replace(/<\/style/gi, '<\\/style');
  const blocks: string[] = [];
  for await (const [name, value] of dataOf(view, total)) {
    blocks.push(`<script type="application/json" id="data-${name}">${inert(value)}</script>`);
  }
  const page = textOf(assets, 'index.html')
    .replace('<title>', () => `${policy(hashOf(script), hashOf(style))}\n${mark}\n<title>`)
    .replace('<link rel="stylesheet" href="page.css">', () => `<style>${style}</style>`)
    .replace('<script src="page.js" defer></script>\n', '')
    .replace('</body>', () => `${blocks.join('\n')}\n<script>${script}</script>\n</body>`);
  await mkdir(dirname(output), { recursive: true });
  await writeFile(output, page);
  return output;
}

/** Writes the viewer with everything that it shows: a folder that opens from the disk, or one file. Gives the page's path. */
export async function exportHtml(options: ExportOptions): Promise<string> {
  const { arms } = await options.view.overview();
  const total = arms.reduce((sum, { records }) => sum + records, 0);
  return options.singleFile ? writeSingle(options, total) : writeFolder(options, total);
}
