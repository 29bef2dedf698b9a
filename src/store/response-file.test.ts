import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { sha256 } from '../lib/hash.ts';
import { openResponses } from './response-file.ts';

const { signal } = new AbortController();

async function fileOf(content: string | Uint8Array): Promise<string> {
  const file = join(await tempFolder(), 'responses.jsonl');
  await writeFile(file, content);
  return file;
}
const open = async (content: string | Uint8Array) => openResponses(await fileOf(content), signal);
const line = (value: object) => `${JSON.stringify(value)}\n`;

describe('a responses file', () => {
  it('gives each line by sample and repeat, in bytes and not in characters', async () => {
    const content = `\ufeff${line({ sample_id: 'ä', message: 'Größe 😀' })}\r\n\n${line({ sample_id: 'b', repeat: 2, message: '' })}`;
    const file = await open(content);
    expect(file.entries.map(({ sampleId, repeat, line: at }) => [sampleId, repeat, at])).toEqual([
      ['ä', 0, 1],
      ['b', 2, 4],
    ]);
    expect(await file.get('ä#0')).toEqual({ sample_id: 'ä', message: 'Größe 😀', repeat: 0 });
    expect(await file.get('b#2')).toEqual({ sample_id: 'b', message: '', repeat: 2 });
    expect(await file.get('b#0')).toBeUndefined();
    expect(file.sha256).toBe(sha256(content));
  });

  it('takes a last line without its end, and lines of several experiments', async () => {
    const file = await open(
      line({ sample_id: 'a', message: 'one', experiment: 'x' }) + JSON.stringify({ sample_id: 'a', message: 'two' }),
    );
    expect((await file.get('a#0', 'x'))?.message).toBe('one');
    expect((await file.get('a#0'))?.message).toBe('two');
    expect(await file.get('a#0', 'y')).toBeUndefined();
  });

  it('keeps what was recalled, as text or with the facts it came from', async () => {
    const recall = ['a text', { text: 'another', fact_ids: ['Name'] }];
    const file = await open(line({ sample_id: 'a', message: 'm', recall }));
    expect((await file.get('a#0'))?.recall).toEqual(recall);
  });

  it.each([
    ['{"sample_id": "a", "message": ', 'one JSON object a line', '{\\"sample_id\\": \\"a\\"'],
    ['[]', 'sample_id, message', 'the line: '],
    ['{"sample_id": "a"}', 'sample_id, message', 'no "message"'],
    ['{"message": "a"}', 'sample_id, message', 'no "sample_id"'],
    ['{"sample_id": "a", "message": null}', 'sample_id, message', 'message: '],
    ['{"sample_id": "a", "message": "m", "repeat": -1}', 'sample_id, message', 'repeat: '],
  ])('refuses %s, and names the line', async (text, expected, found) => {
    const content = `${line({ sample_id: 'ok', message: 'fine' })}${text}\n`;
    const error = await open(content).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'responses_bad_line', where: { line: 2, column: 1 } });
    expect(error.expected).toContain(expected);
    expect(error.found).toContain(found);
  });

  it('names the key that a misspelled one most likely meant', async () => {
    await expect(open(line({ sample_id: 'a', mesage: 'm', message: 'n' }))).rejects.toMatchObject({
      found: 'the key "mesage"',
      hint: 'did you mean "message"?',
    });
  });

  it('refuses bytes that are not text', async () => {
    await expect(open(Buffer.from([0x7b, 0xff, 0x7d, 0x0a]))).rejects.toMatchObject({ expected: 'UTF-8' });
  });

  it('refuses a second response for the same sample, repeat and experiment, and names the first', async () => {
    const twice = line({ sample_id: 'a', message: 'm' }) + line({ sample_id: 'a', message: 'n' });
    await expect(open(twice)).rejects.toMatchObject({
      code: 'responses_duplicate',
      where: { line: 2 },
      found: 'the first is in line 1',
    });
  });

  it('tells all problems at once, and stops at twenty', async () => {
    const error = await open('x\n'.repeat(3)).catch((thrown) => thrown);
    expect(error.errors).toHaveLength(3);
    const many = await open('x\n'.repeat(50)).catch((thrown) => thrown);
    expect(many.errors).toHaveLength(20);
  });

  it('refuses a file that is empty or not there', async () => {
    await expect(open('\n\n')).rejects.toMatchObject({ code: 'responses_empty' });
    await expect(openResponses(join(await tempFolder(), 'none.jsonl'), signal)).rejects.toMatchObject({
      code: 'dataset_unreadable',
    });
  });

  it('notices that the file was changed while it was in use', async () => {
    const path = await fileOf(line({ sample_id: 'a', message: 'm' }));
    const file = await openResponses(path, signal);
    await writeFile(path, line({ sample_id: 'b', message: 'm' }));
    await expect(file.get('a#0')).rejects.toMatchObject({ code: 'responses_changed' });
  });
});
