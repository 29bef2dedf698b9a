import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';

/** A good CI row; `n` makes it a different one. */
export function ciRow(n = 0) {
  return {
    seed: {
      scenario: 'email',
      domain: 'Hospitality',
      user_intention: 'booking a room',
      sender: 'user',
      recipient: `hotel ${n}`,
      data_subject: 'user',
      information_type: { allowed: ['arrival'], disallowed: ['diagnosis'] },
      transmission_principle: 'Confidentiality',
    },
    dataset_item: {
      user_task: `Book room ${n}.`,
      information: { arrival: `We arrive on ${n + 1} May at noon`, health: 'I take Eutirox since my operation' },
      annotation: { allowed: { arrival: `${n + 1} May` }, disallowed: { health: 'Eutirox' } },
    },
  };
}

/** Rows as the published file has them: each column a string of JSON. A cell that is text already stays as it is. */
export function parquetOf(
  rows: readonly Record<string, unknown>[],
  options: { columns?: readonly string[]; rowGroupSize?: number } = {},
): Buffer {
  const columns = options.columns ?? ['seed', 'dataset_item'];
  const cell = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  const columnData = columns.map((name) => ({
    name,
    data: rows.map((row) => cell(row[name])),
    type: 'STRING' as const,
  }));
  const { rowGroupSize } = options;
  return Buffer.from(parquetWriteBuffer({ columnData, ...(rowGroupSize === undefined ? {} : { rowGroupSize }) }));
}

/** Puts a file of a dataset repository where the loopback hub serves it from. */
export async function putOnHub(folder: string, file: { repo: string; path: string; bytes: Uint8Array | string }) {
  const target = join(folder, 'datasets', file.repo, file.path);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, file.bytes);
}
