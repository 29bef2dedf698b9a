import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HeamsError } from '../lib/errors.ts';
import { writeFileWhole } from '../lib/write-file.ts';
import { toCsv } from '../report/csv.ts';
import { type LabelChange, type ViewLabel, viewLabelSchema } from '../schema/view.ts';

/** One line of the log: a label, or that a rater took a label back. */
const lineSchema = viewLabelSchema.extend({ label: viewLabelSchema.shape.label.nullable() });

const keyOf = ({ experiment, sample_id, repeat, item, rater }: Omit<LabelChange, 'label'>): string =>
  JSON.stringify([experiment, sample_id, repeat, item, rater]);

/**
 * Labels of people, beside a results folder and never in it: `<results>.labels/labels.jsonl` has every word that was
 * said, in order, and `labels.csv` what holds now, as `heams judge labels` reads it.
 */
export class LabelFile {
  readonly dir: string;
  private readonly labels: Map<string, ViewLabel>;
  /** Writes take turns, so that the table is never older than the log. */
  private writing: Promise<void> = Promise.resolve();

  private constructor(dir: string, labels: Map<string, ViewLabel>) {
    this.dir = dir;
    this.labels = labels;
  }

  static async open(resultsDir: string): Promise<LabelFile> {
    const dir = `${resultsDir}.labels`;
    const file = join(dir, 'labels.jsonl');
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
    const labels = new Map<string, ViewLabel>();
    // What stands after the last newline was torn by a crash.
    for (const [i, line] of text.split('\n').slice(0, -1).entries()) {
      const parsed = lineSchema.safeParse(parseJson(line));
      if (!parsed.success) {
        throw new HeamsError('this line is no label', {
          code: 'labels_foreign_line',
          where: { file, line: i + 1, column: 1 },
          expected: 'a label, as `heams view` appends them',
          found: line.slice(0, 60),
          hint: 'remove the line',
        });
      }
      take(labels, parsed.data);
    }
    return new LabelFile(dir, labels);
  }

  list(): ViewLabel[] {
    return [...this.labels.values()];
  }

  /** Resolves once the label is on disk. */
  set(change: LabelChange, at: string): Promise<void> {
    const turn = this.writing.then(async () => {
      await mkdir(this.dir, { recursive: true });
      await appendFile(join(this.dir, 'labels.jsonl'), `${JSON.stringify({ ...change, at })}\n`);
      take(this.labels, { ...change, at });
      await writeFileWhole(join(this.dir, 'labels.csv'), this.csv());
    });
    this.writing = turn.catch(() => {});
    return turn;
  }

  private csv(): string {
    const rows = this.list().map(({ experiment, sample_id, repeat, item, label, rater }) => [
      `${experiment}/${sample_id}/${repeat}`,
      item,
      label,
      rater,
    ]);
    return toCsv(['record', 'item', 'label', 'rater'], rows);
  }
}

function take(labels: Map<string, ViewLabel>, { label, ...rest }: LabelChange & { at: string }): void {
  if (label === null) labels.delete(keyOf(rest));
  else labels.set(keyOf(rest), { ...rest, label });
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
