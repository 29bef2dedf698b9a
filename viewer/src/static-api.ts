import { z } from 'zod';
import { ciComparisonSchema } from '../../src/schema/ci-comparison.ts';
import {
  overviewSchema,
  type RowFlag,
  type RowQuery,
  type RowsPage,
  type ViewLabels,
  type ViewRow,
  viewRowSchema,
  viewSampleSchema,
} from '../../src/schema/view.ts';
import { exportFilesOf } from '../../src/view/export-files.ts';
import { hasFlag, queryRows } from '../../src/view/query-rows.ts';
import type { ViewApi } from '../../src/view/view-api.ts';

/**
 * The files of a static export. A page that was opened from a folder may not fetch, so each file is a script that hands
 * its data to `heamsData`; in a single file all of it stands in the page already, as text that is never run.
 */
interface ExportGlobal {
  heamsData?: (name: string, json: string) => void;
  heamsExport?: true;
}
const outside = globalThis as ExportGlobal;

export const exported = (): boolean => document.querySelector('meta[name="heams-export"]') !== null;

const given = new Map<string, string>();
outside.heamsData = (name, json) => given.set(name, json);

/** Text of a file: from the page where it stands in it, else by a script of that name. */
async function read(name: string): Promise<string> {
  const inPage = document.getElementById(`data-${name}`);
  if (inPage) return inPage.textContent ?? '';
  const known = given.get(name);
  if (known !== undefined) return known;
  await new Promise<void>((resolve, reject) => {
    const script = document.createElement('script');
    script.src = `data/${name}.js`;
    script.onload = () => resolve();
    script.onerror = () => reject(new Error(`data/${name}.js is missing from this export`));
    document.head.append(script);
  });
  const loaded = given.get(name);
  given.delete(name);
  if (loaded === undefined) throw new Error(`data/${name}.js holds something else`);
  return loaded;
}

async function readAs<T>(schema: z.ZodType<T>, name: string): Promise<T> {
  return schema.parse(JSON.parse(await read(name)));
}

/** Messages by row in lower case, for the search of texts. */
const textsSchema = z.array(z.tuple([z.int().nonnegative(), z.string()]));

/** Reads a static export: the same questions, answered from files. */
export class StaticApi implements ViewApi {
  private readonly files = exportFilesOf();
  private all: Promise<ViewRow[]> | undefined;
  private texts: Promise<[number, string][]> | undefined;

  overview() {
    return readAs(overviewSchema, this.files.overview);
  }

  private rowsOfAll(): Promise<ViewRow[]> {
    this.all ??= this.overview().then(async ({ arms }) => {
      const total = arms.reduce((sum, { records }) => sum + records, 0);
      const rows: ViewRow[] = [];
      for (const name of this.files.rows(total)) rows.push(...(await readAs(z.array(viewRowSchema), name)));
      return rows;
    });
    return this.all;
  }

  private async found(text: string): Promise<Set<number> | undefined> {
    if (text.trim() === '') return undefined;
    this.texts ??= this.rowsOfAll().then(async ({ length }) => {
      const texts: [number, string][] = [];
      for (const name of this.files.texts(length)) texts.push(...(await readAs(textsSchema, name)));
      return texts;
    });
    const wanted = text.toLowerCase();
    return new Set((await this.texts).filter(([, message]) => message.includes(wanted)).map(([row]) => row));
  }

  private async match(query: RowQuery): Promise<ViewRow[]> {
    return queryRows(await this.rowsOfAll(), query, await this.found(query.text));
  }

  async rows(query: RowQuery, offset: number, limit: number): Promise<RowsPage> {
    const matched = await this.match(query);
    const total = (await this.rowsOfAll()).length;
    return {
      version: 1,
      revision: 0,
      total,
      matched: matched.length,
      offset,
      rows: matched.slice(offset, offset + limit),
    };
  }

  async seek(query: RowQuery, from: number, step: 1 | -1, flag: RowFlag): Promise<number | undefined> {
    const rows = await this.match(query);
    for (let at = from; at >= 0 && at < rows.length; at += step) if (hasFlag(rows[at] as ViewRow, flag)) return at;
    return undefined;
  }

  async positionOf(query: RowQuery, row: number): Promise<number | undefined> {
    const at = (await this.match(query)).findIndex((one) => one.row === row);
    return at < 0 ? undefined : at;
  }

  async sample(row: number) {
    const [file, place] = this.files.sample(row);
    const samples = await readAs(z.array(viewSampleSchema), file);
    const found = samples[place];
    if (!found) throw new Error(`row ${row} is not in this export`);
    return found;
  }

  async differences(baseline: string) {
    const { arms } = await this.overview();
    const at = arms.findIndex(({ experiment }) => experiment === baseline);
    if (at < 0) return undefined;
    return (await readAs(ciComparisonSchema.nullable(), this.files.differences(at))) ?? undefined;
  }

  labels(): Promise<ViewLabels> {
    return Promise.resolve({ version: 1, labels: [], agreement: { compared: 0, agree: 0 }, file: '' });
  }

  setLabel(): Promise<ViewLabels> {
    return Promise.reject(new Error('an export cannot be labelled: use `heams view`'));
  }
}
