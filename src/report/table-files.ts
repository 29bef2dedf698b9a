import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { toCsv } from './csv.ts';

export type TableType = 'text' | 'count' | 'number' | 'boolean';
export type TableValue = string | number | boolean | undefined;

export interface Table {
  /** Name of its file, without the ending. */
  name: string;
  columns: readonly { name: string; type: TableType }[];
}
export type TableRow = readonly TableValue[];

/** A file that takes rows a batch at a time. It has its name once `end` resolves, and is whole then. */
export interface TableFile {
  write(rows: readonly TableRow[]): Promise<void>;
  end(): Promise<void>;
}

export const tableFormats = ['csv', 'json', 'parquet'] as const;
export type TableFormat = (typeof tableFormats)[number];

/** A text file that is written beside its place and then put there. */
function textFile(path: string): { write(text: string): Promise<void>; end(): Promise<void> } {
  const part = `${path}.part`;
  const stream = createWriteStream(part);
  let failure: Error | undefined;
  stream.on('error', (error) => {
    failure = error;
  });
  return {
    async write(text) {
      if (failure) throw failure;
      if (!stream.write(text)) await once(stream, 'drain');
    },
    async end() {
      stream.end();
      await once(stream, 'close');
      if (failure) throw failure;
      await rename(part, path);
    },
  };
}

function csvFile(path: string, { columns }: Table): TableFile {
  const file = textFile(path);
  const names = columns.map(({ name }) => name);
  let begun = false;
  const lines = async (rows: readonly TableRow[]) => {
    const text = toCsv(names, rows);
    await file.write(begun ? text.slice(text.indexOf('\r\n') + 2) : text);
    begun = true;
  };
  return {
    write: lines,
    end: async () => {
      if (!begun) await lines([]);
      await file.end();
    },
  };
}

/** One array of objects; what is absent in a row has no key. */
function jsonFile(path: string, { columns }: Table): TableFile {
  const file = textFile(path);
  let rowsWritten = 0;
  return {
    async write(rows) {
      for (const row of rows) {
        const entries = columns.flatMap(({ name }, i) => (row[i] === undefined ? [] : [[name, row[i]] as const]));
        await file.write(`${rowsWritten === 0 ? '[\n' : ',\n'}${JSON.stringify(Object.fromEntries(entries))}`);
        rowsWritten += 1;
      }
    },
    async end() {
      await file.write(rowsWritten === 0 ? '[]\n' : '\n]\n');
      await file.end();
    },
  };
}

const parquetTypes = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  count: { type: 'INT32' },
  number: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
} as const;

async function parquetFile(path: string, { columns }: Table): Promise<TableFile> {
  const { ParquetWriter, fileWriter } = await import('hyparquet-writer');
  const part = `${path}.part`;
  const schema = [
    { name: 'root', num_children: columns.length },
    ...columns.map(({ name, type }) => ({ name, repetition_type: 'OPTIONAL' as const, ...parquetTypes[type] })),
  ];
  const writer = new ParquetWriter({ writer: fileWriter(part), schema, createdBy: 'heams' });
  return {
    async write(rows) {
      if (rows.length === 0) return;
      const columnData = columns.map(({ name }, i) => ({ name, data: rows.map((row) => row[i]) }));
      await writer.write({ columnData, rowGroupSize: rows.length });
    },
    async end() {
      await writer.finish();
      await rename(part, path);
    },
  };
}

/** Opens a table's file in a folder that is there. Parquet has a row group for each batch. */
export async function openTableFile(path: string, table: Table, format: TableFormat): Promise<TableFile> {
  if (format === 'csv') return csvFile(path, table);
  if (format === 'json') return jsonFile(path, table);
  return parquetFile(path, table);
}
