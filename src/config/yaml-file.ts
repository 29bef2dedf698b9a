import { readFile, stat } from 'node:fs/promises';
import { type Document, isMap, isNode, isPair, isScalar, LineCounter, parseAllDocuments } from 'yaml';
import type { Path } from '../contracts/plugin.ts';
import { HeamsError, messageOf, throwIfAny, type Where } from '../lib/errors.ts';

const MAX_BYTES = 4 << 20;

/** A parsed config file that still knows where everything stands. */
export interface YamlFile {
  path: string;
  data: unknown;
  /** Where the value at a path stands; where it is missing, its nearest parent that is there. */
  where(path: Path): Where;
  /** Where a key stands. */
  whereKey(path: Path, key: string): Where;
  /** Where a text first occurs inside the value at a path: the line inside a block of prose. */
  whereText(path: Path, text: string): Where;
}

function locator(file: string, text: string, doc: Document, lines: LineCounter) {
  const at = (offset: number | undefined): Where => {
    if (offset === undefined) return { file, line: 1, column: 1 };
    const { line, col } = lines.linePos(offset);
    return { file, line, column: col };
  };
  const nodeAt = (path: Path): unknown => (path.length === 0 ? doc.contents : doc.getIn(path, true));
  const rangeOf = (path: Path): [number, number] | undefined => {
    for (let length = path.length; length >= 0; length--) {
      const node = nodeAt(path.slice(0, length));
      if (isNode(node) && node.range) return [node.range[0], node.range[1]];
    }
    return undefined;
  };
  return {
    where: (path: Path) => at(rangeOf(path)?.[0]),
    whereKey: (path: Path, key: string) => {
      const node = nodeAt(path);
      if (isMap(node)) {
        for (const pair of node.items) {
          if (isPair(pair) && isScalar(pair.key) && String(pair.key.value) === key && pair.key.range) {
            return at(pair.key.range[0]);
          }
        }
      }
      return at(rangeOf(path)?.[0]);
    },
    whereText: (path: Path, wanted: string) => {
      const range = rangeOf(path);
      if (!range) return at(undefined);
      const offset = text.indexOf(wanted, range[0]);
      return at(offset >= 0 && offset < range[1] ? offset : range[0]);
    },
  };
}

async function readText(path: string, usedBy: Where | undefined): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > MAX_BYTES) {
      throw new HeamsError('this config file is too large', {
        code: 'config_too_large',
        where: { file: path },
        expected: `at most ${MAX_BYTES} bytes`,
        found: `${size} bytes`,
      });
    }
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (cause instanceof HeamsError) throw cause;
    const code = (cause as NodeJS.ErrnoException).code;
    throw new HeamsError(code === 'ENOENT' ? `there is no file ${path}` : `cannot read ${path}: ${messageOf(cause)}`, {
      code: 'config_missing_file',
      where: usedBy ?? { file: path },
      hint: 'check the path; a bare name is looked up under the nearest folder named "configs"',
      cause,
    });
  }
}

/** Reads one YAML document. Every syntax error is reported with its place; aliases may not multiply without end. */
export async function readYamlFile(path: string, usedBy?: Where): Promise<YamlFile> {
  const text = await readText(path, usedBy);
  const lines = new LineCounter();
  const docs = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const [doc, second] = Array.isArray(docs) ? docs : [];
  if (!doc || doc.contents === null) {
    throw new HeamsError('this config file is empty', {
      code: 'config_empty',
      where: { file: path, line: 1, column: 1 },
    });
  }
  const at = (offset: number): Where => {
    const { line, col } = lines.linePos(offset);
    return { file: path, line, column: col };
  };
  throwIfAny(
    [...doc.errors, ...doc.warnings].map(
      (error) =>
        new HeamsError(`not valid YAML: ${error.message.split('\n')[0]}`, {
          code: 'config_bad_yaml',
          where: at(error.pos[0]),
        }),
    ),
  );
  if (second) {
    throw new HeamsError('a config file holds one document', {
      code: 'config_bad_yaml',
      where: at(second.range[0]),
      hint: 'remove the "---" and what follows it, or put it into a file of its own',
    });
  }
  let data: unknown;
  try {
    data = doc.toJS({ maxAliasCount: 100 });
  } catch (cause) {
    throw new HeamsError(`not usable YAML: ${messageOf(cause)}`, {
      code: 'config_bad_yaml',
      where: { file: path, line: 1, column: 1 },
      hint: 'aliases may be used at most 100 times, each of something defined above it',
      cause,
    });
  }
  return { path, data, ...locator(path, text, doc, lines) };
}
