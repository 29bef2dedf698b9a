/** What is wrong with a call, in words for the model that made it. */
export class NoteProblem extends Error {}

/** Where notes are, as the model sees it. */
export const NOTES_ROOT = '/memories';

const MAX_NAME = 100;
const MAX_DEPTH = 8;

/** What no file system may be given, or what Windows reads as something else. */
const forbidden = /[\p{Cc}\p{Cs}\\/<>:"|?*]/u;
const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

function nameProblem(name: string): string | undefined {
  if (name === '' || name === '.' || name === '..') return `"${name}" is not a name`;
  if (name.length > MAX_NAME) return `a name has at most ${MAX_NAME} characters`;
  if (forbidden.test(name)) return 'a name has no control characters and none of \\ < > : " | ? *';
  if (/[ .]$/.test(name) || name.startsWith(' '))
    return 'a name neither begins with a space nor ends with a space or a dot';
  if (reserved.test(name)) return `"${name}" is no name for a file`;
  return undefined;
}

/**
 * The names that lead from the folder of notes to a path of the model's, none for the folder itself. Whatever is not
 * plainly below it is refused: nothing is resolved, decoded or cleaned up.
 *
 * @throws NoteProblem
 */
export function namesOf(path: string): string[] {
  const [empty, root, ...names] = path.split('/');
  if (empty !== '' || `/${root}` !== NOTES_ROOT) throw new NoteProblem(`a path begins with ${NOTES_ROOT}`);
  // A folder may be written with a slash at its end.
  if (names.at(-1) === '') names.pop();
  if (names.length > MAX_DEPTH) throw new NoteProblem(`a path has at most ${MAX_DEPTH} names below ${NOTES_ROOT}`);
  for (const name of names) {
    const problem = nameProblem(name);
    if (problem) throw new NoteProblem(`this path cannot be used: ${problem}`);
  }
  return names;
}

export const pathOf = (names: readonly string[]): string => [NOTES_ROOT, ...names].join('/');
