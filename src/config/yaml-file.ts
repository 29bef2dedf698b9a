import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  Lexer,
  LineCounter,
  type Node,
  parseAllDocuments,
  visit,
  type YAMLParseError,
  type YAMLWarning,
} from 'yaml';
import type { Path } from '../contracts/plugin.ts';
import { HeamsError, messageOf, throwIfAny, type Where } from '../lib/errors.ts';
import { nearest } from '../lib/nearest.ts';

const MAX_BYTES = 4 << 20;
const MAX_ALIASES = 100;
const MAX_SYNTAX_ERRORS = 10;
/** Brackets inside brackets. With some ten thousand of them the YAML library takes the whole process down. */
const MAX_NESTING = 200;

/** A parsed config file that still knows where everything stands. */
export interface YamlFile {
  path: string;
  data: unknown;
  /** Where the value at a path stands; where it is missing, its nearest parent that is there. */
  where(path: Path): Where;
  /** Where a key stands. */
  whereKey(path: Path, key: string): Where;
  /** Where a text first occurs inside the value at a path: the line inside a block of prose. */
  whereText(path: Path, wanted: string | RegExp): Where;
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
    whereText: (path: Path, wanted: string | RegExp) => {
      const range = rangeOf(path);
      if (!range) return at(undefined);
      const value = text.slice(...range);
      const offset = typeof wanted === 'string' ? value.indexOf(wanted) : value.search(wanted);
      return at(range[0] + Math.max(offset, 0));
    },
  };
}

/** The file of the same folder that a misspelled name most likely meant. */
async function nearestFile(path: string): Promise<string | undefined> {
  const siblings = await readdir(dirname(path)).catch(() => []);
  return nearest(basename(path), siblings);
}

async function unreadable(path: string, usedBy: Where | undefined, cause: unknown): Promise<HeamsError> {
  const absent = (cause as NodeJS.ErrnoException).code === 'ENOENT';
  const meant = absent ? await nearestFile(path) : undefined;
  return new HeamsError(absent ? `there is no file ${path}` : `cannot read ${path}: ${messageOf(cause)}`, {
    code: 'config_missing_file',
    where: usedBy ?? { file: path },
    expected: 'a config file',
    found: absent ? 'nothing' : messageOf(cause),
    hint: meant
      ? `did you mean "${meant}"?`
      : 'check the path; a bare name is looked up under the nearest folder named "configs"',
    cause,
  });
}

async function readBytes(path: string, usedBy: Where | undefined): Promise<Uint8Array> {
  const about = await stat(path).catch(async (cause) => Promise.reject(await unreadable(path, usedBy, cause)));
  if (about.isDirectory()) {
    throw new HeamsError(`${path} is a folder`, {
      code: 'config_missing_file',
      where: usedBy ?? { file: path },
      expected: 'a config file',
      found: 'a folder',
      hint: 'name a .yaml file in it',
    });
  }
  if (about.size > MAX_BYTES) {
    throw new HeamsError('this config file is too large', {
      code: 'config_too_large',
      where: { file: path },
      expected: `at most ${MAX_BYTES} bytes`,
      found: `${about.size} bytes`,
    });
  }
  return readFile(path).catch(async (cause) => Promise.reject(await unreadable(path, usedBy, cause)));
}

/** Bytes that are not text are refused: read as well as may be, they would change a prompt and nobody would know. */
function decode(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new HeamsError('this config file is not UTF-8 text', {
      code: 'config_bad_encoding',
      where: { file: path },
      expected: 'UTF-8',
      found: 'bytes that are not UTF-8',
      hint: 'save the file as UTF-8',
      cause,
    });
  }
}

/** What is wrong with the first alias that stands for nothing, or for something that it is itself a part of. */
function badAlias(doc: Document): { alias: Alias; problem: string } | undefined {
  const anchors = new Map<string, Node>();
  let bad: { alias: Alias; problem: string } | undefined;
  visit(doc, {
    Node: (_key, node, ancestors) => {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchors.set(node.anchor, node);
        return undefined;
      }
      const target = anchors.get(node.source);
      if (target && !ancestors.includes(target)) return undefined;
      bad = { alias: node, problem: `*${node.source} is ${target ? 'used inside itself' : 'not defined above it'}` };
      return visit.BREAK;
    },
  });
  return bad;
}

/** The first complaint at every place, and not the whole avalanche that one stray bracket sets off. */
function syntaxProblems(doc: Document.Parsed): (YAMLParseError | YAMLWarning)[] {
  const byOffset = new Map<number, YAMLParseError | YAMLWarning>();
  for (const problem of [...doc.errors, ...doc.warnings]) {
    if (!byOffset.has(problem.pos[0])) byOffset.set(problem.pos[0], problem);
  }
  return [...byOffset.values()].slice(0, MAX_SYNTAX_ERRORS);
}

/** Counted on the tokens, so that brackets in a prompt's text do not count; most files have too few to look at all. */
function throwIfTooDeep(path: string, text: string): void {
  if ((text.match(/[[{]/g) ?? []).length <= MAX_NESTING) return;
  let depth = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    if (depth <= MAX_NESTING) continue;
    throw new HeamsError('this config file is nested too deeply', {
      code: 'config_bad_yaml',
      where: { file: path },
      expected: `at most ${MAX_NESTING} brackets inside each other`,
      found: 'more',
    });
  }
}

/** Reads one YAML document. Every syntax error is reported with its place; aliases may not multiply without end. */
export async function readYamlFile(path: string, usedBy?: Where): Promise<YamlFile> {
  const text = decode(path, await readBytes(path, usedBy));
  throwIfTooDeep(path, text);
  const lines = new LineCounter();
  const docs = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const [doc, second] = Array.isArray(docs) ? docs : [];
  if (!doc) {
    throw new HeamsError('this config file is empty', {
      code: 'config_empty',
      where: { file: path, line: 1, column: 1 },
      expected: 'keys and values',
      found: 'nothing',
    });
  }
  const at = (offset: number): Where => {
    const { line, col } = lines.linePos(offset);
    return { file: path, line, column: col };
  };
  throwIfAny(
    syntaxProblems(doc).map(
      ({ message, pos }) =>
        new HeamsError(`not valid YAML: ${message.split('\n')[0]}`, { code: 'config_bad_yaml', where: at(pos[0]) }),
    ),
  );
  if (second) {
    throw new HeamsError('a config file holds one document', {
      code: 'config_bad_yaml',
      where: at(second.range[0]),
      hint: 'remove the "---" and what follows it, or put it into a file of its own',
    });
  }
  return { path, data: plainData(doc, at), ...locator(path, text, doc, lines) };
}

function plainData(doc: Document.Parsed, at: (offset: number) => Where): unknown {
  const bad = badAlias(doc);
  try {
    if (bad) throw new Error(bad.problem);
    // The library counts the definition as a use.
    return doc.toJS({ maxAliasCount: MAX_ALIASES + 1 });
  } catch (cause) {
    throw new HeamsError(`not usable YAML: ${messageOf(cause)}`, {
      code: 'config_bad_yaml',
      where: at(bad?.alias.range?.[0] ?? doc.contents?.range?.[0] ?? 0),
      hint: `aliases may be used at most ${MAX_ALIASES} times, each of something defined above it`,
      cause,
    });
  }
}
