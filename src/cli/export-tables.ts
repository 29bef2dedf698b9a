import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { recordTable, tableRows, verdictTable } from '../benchmarks/contextual-integrity/export-tables.ts';
import { HeamsError } from '../lib/errors.ts';
import { openTableFile, type TableFile, type TableFormat, type TableRow } from '../report/table-files.ts';
import { listExperiments, readRecords } from '../store/records.ts';
import { exit, type Io } from './io.ts';

export interface ExportTablesOptions {
  output: string;
  mask: boolean;
}

/** Rows that are written at once: a row group of Parquet. */
const BATCH = 5000;

/** Gathers rows until there are enough for a batch. */
class Batches {
  private rows: TableRow[] = [];
  private readonly file: TableFile;
  count = 0;

  constructor(file: TableFile) {
    this.file = file;
  }

  async add(rows: readonly TableRow[]): Promise<void> {
    this.rows.push(...rows);
    this.count += rows.length;
    if (this.rows.length >= BATCH) await this.flush();
  }

  private async flush(): Promise<void> {
    await this.file.write(this.rows);
    this.rows = [];
  }

  async end(): Promise<void> {
    if (this.rows.length > 0) await this.flush();
    await this.file.end();
  }
}

/** `heams export csv|json|parquet`: a table of the records, and one with a row for each secret and field. */
export async function exportTables(
  folder: string,
  format: TableFormat,
  options: ExportTablesOptions,
  io: Io,
): Promise<number> {
  const experiments = await listExperiments(resolve(io.cwd, folder));
  const output = resolve(io.cwd, options.output);
  await mkdir(output, { recursive: true }).catch((cause: unknown) => {
    throw new HeamsError('the folder for the tables cannot be made', {
      code: 'export_no_folder',
      where: { file: output },
      cause,
    });
  });
  const open = async (table: typeof recordTable) => {
    const path = join(output, `${table.name}.${format}`);
    return { path, batches: new Batches(await openTableFile(path, table, format)) };
  };
  const [records, verdicts] = [await open(recordTable), await open(verdictTable)];
  for (const { runsFile } of experiments) {
    for await (const record of readRecords(runsFile)) {
      const rows = tableRows(record, options.mask);
      await records.batches.add([rows.record]);
      await verdicts.batches.add(rows.verdicts);
    }
  }
  for (const { path, batches } of [records, verdicts]) {
    await batches.end();
    io.out(`${path}: ${batches.count} rows`);
  }
  if (options.mask) io.note('Secrets are masked where they stand word for word; --no-mask shows them.');
  return exit.done;
}
