import { join } from 'node:path';
import { HeamsError, messageOf } from '../../lib/errors.ts';
import { makeFolders } from '../../lib/make-folders.ts';
import { writeFileWhole } from '../../lib/write-file.ts';
import { renderHtml } from '../../report/render-html.ts';
import { renderMarkdown } from '../../report/render-markdown.ts';
import type { CiComparison } from '../../schema/ci-comparison.ts';
import { comparisonDocument } from './compare-report.ts';

/** Writes `_rollup/ci/compare.md`, `compare.html` and `compare.json` into a results folder, and returns their paths. */
export async function writeComparison(resultsDir: string, comparison: CiComparison): Promise<string[]> {
  const dir = join(resultsDir, '_rollup', 'ci');
  const document = comparisonDocument(comparison);
  const contents = {
    'compare.md': renderMarkdown(document),
    'compare.html': renderHtml(document),
    'compare.json': `${JSON.stringify(comparison, null, 2)}\n`,
  };
  try {
    await makeFolders(dir);
    for (const [name, content] of Object.entries(contents)) await writeFileWhole(join(dir, name), content);
  } catch (cause) {
    throw new HeamsError(`cannot write the comparison: ${messageOf(cause)}`, {
      code: 'report_write_failed',
      where: { file: dir },
      hint: 'mend the permissions or make room, and run the command again',
      cause,
    });
  }
  return Object.keys(contents).map((name) => join(dir, name));
}
