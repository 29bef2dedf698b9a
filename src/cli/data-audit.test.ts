import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ciRow } from '../../test/support/dataset-rows.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { ciDataAuditSchema } from '../schema/ci-data-audit.ts';
import { auditCommand } from './data-audit.ts';
import type { Io } from './io.ts';

function listen(cwd: string) {
  const lines: string[] = [];
  const io: Io = { out: (line) => void lines.push(line), note: () => {}, terminal: false, env: {}, cwd };
  return { lines, io };
}

async function folderWith(rows: readonly unknown[]): Promise<string> {
  const dir = await tempFolder();
  await writeFile(join(dir, 'rows.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return dir;
}

const short = () => {
  const row = ciRow(1);
  row.dataset_item.information.health = 'I take the bus';
  row.dataset_item.annotation.disallowed.health = 'bus';
  return row;
};

describe('heams data audit', () => {
  it('prints counts by rule, and writes audit.json and audit.md where it is told to', async () => {
    const dir = await folderWith([ciRow(0), short()]);
    const { lines, io } = listen(dir);
    expect(await auditCommand({ file: 'rows.jsonl', outputDir: 'audit' }, io)).toBe(0);
    expect(lines.slice(0, 2)).toEqual(['2 rows, 2 secrets, 2 fields', 'Flagged: 1 secret and 0 fields in 1 row']);
    expect(lines.find((line) => line.includes(' short '))).toMatch(/^ {2}short +flag +1 in 1 row +0$/);
    expect(lines).toContain('All allowed facts first: 2 of 2 rows');
    expect(lines.slice(-2)).toEqual([
      `Written: ${join(dir, 'audit/audit.json')}`,
      `Written: ${join(dir, 'audit/audit.md')}`,
    ]);
    const audit = ciDataAuditSchema.parse(JSON.parse(await readFile(join(dir, 'audit/audit.json'), 'utf8')));
    expect(audit.source).toMatchObject({ kind: 'file', file: 'rows.jsonl' });
    expect(audit.items.map(({ row, key, flags }) => [row, key, flags])).toEqual([[1, 'health', ['short']]]);
    const page = await readFile(join(dir, 'audit/audit.md'), 'utf8');
    expect(page).toContain('| 1 | `ci-0001` | secret | `health` | `bus` | `short` |');
  });

  it('prints the audit alone with --json, and writes nothing unless it is told to', async () => {
    const dir = await folderWith([ciRow(0), short()]);
    const { lines, io } = listen(dir);
    await auditCommand({ file: 'rows.jsonl', json: true }, io);
    expect(lines).toHaveLength(1);
    expect(ciDataAuditSchema.parse(JSON.parse(lines[0] as string)).rows).toBe(2);
    await expect(readFile(join(dir, 'audit.json'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('audits the whole dataset of a benchmark file, whatever its limit', async () => {
    const dir = await folderWith([ciRow(0), ciRow(1), short()]);
    const benchmark = {
      benchmark: 'contextual_integrity',
      dataset: { file: './rows.jsonl', limit: 1 },
      user_task_prompt: '{{ user_task }}',
      evaluator: { type: 'ci_string_match' },
    };
    await writeFile(join(dir, 'benchmark.yaml'), JSON.stringify(benchmark));
    const { lines, io } = listen(dir);
    await auditCommand({ config: 'benchmark.yaml' }, io);
    expect(lines[0]).toBe('3 rows, 3 secrets, 3 fields');
  });

  it('audits nothing where a row is bad, or has an id of another', async () => {
    const bad = ciRow(1);
    bad.dataset_item.annotation.allowed = {} as never;
    const dir = await folderWith([ciRow(0), bad]);
    await expect(auditCommand({ file: 'rows.jsonl' }, listen(dir).io)).rejects.toMatchObject({
      code: 'dataset_no_allowed_values',
    });
    const twice = await folderWith([ciRow(0), ciRow(1)].map((row) => ({ ...row, id: 'same' })));
    await expect(auditCommand({ file: 'rows.jsonl' }, listen(twice).io)).rejects.toMatchObject({
      code: 'dataset_duplicate_id',
    });
  });

  it('says where it cannot write', async () => {
    const dir = await folderWith([ciRow(0)]);
    await expect(
      auditCommand({ file: 'rows.jsonl', outputDir: 'rows.jsonl/inside' }, listen(dir).io),
    ).rejects.toMatchObject({ code: 'audit_write_failed' });
  });
});
