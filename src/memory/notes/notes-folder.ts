import { appendFile, lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NoteProblem, namesOf, pathOf } from './note-path.ts';

export interface Note {
  /** As the model sees it: `/memories/...`. */
  path: string;
  content: string;
}

const MAX_CHARACTERS = 1_000_000;
const MAX_FILES = 500;

type Place = { real: string; path: string; kind: 'file' | 'folder' | 'absent' };

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

/**
 * The notes of one scope: a folder on disk, addressed by the paths of the model. A link is never followed, whoever put
 * it there. What the model got wrong is a `NoteProblem`; what the disk refuses is thrown as it comes.
 */
export class NotesFolder {
  readonly #root: string;

  /** @param root The folder; it must be there. */
  constructor(root: string) {
    this.#root = root;
  }

  /** All notes, in order of their paths. */
  async all(): Promise<Note[]> {
    const notes: Note[] = [];
    const walk = async (names: readonly string[]): Promise<void> => {
      const entries = await readdir(join(this.#root, ...names), { withFileTypes: true });
      for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
        const inner = [...names, entry.name];
        if (entry.isDirectory()) await walk(inner);
        else if (entry.isFile()) {
          notes.push({ path: pathOf(inner), content: await readFile(join(this.#root, ...inner), 'utf8') });
        }
      }
    };
    await walk([]);
    return notes;
  }

  async kindOf(path: string): Promise<Place['kind']> {
    return (await this.#place(path)).kind;
  }

  async read(path: string): Promise<Note> {
    const place = await this.#file(path);
    return { path: place.path, content: await readFile(place.real, 'utf8') };
  }

  /** A new note; one that is there already is not written over. */
  async create(path: string, content: string): Promise<void> {
    const place = await this.#place(path);
    if (place.kind !== 'absent') throw new NoteProblem(`${place.path} is there already`);
    if (namesOf(path).length === 0) throw new NoteProblem(`${place.path} is the folder of notes`);
    if ((await this.all()).length >= MAX_FILES)
      throw new NoteProblem(`there are ${MAX_FILES} notes, which is the limit`);
    this.#fits(content);
    await mkdir(dirname(place.real), { recursive: true });
    await writeFile(place.real, content, { flag: 'wx' });
  }

  /** Adds to a note that HEAMS keeps; the limits are the model's. */
  async append(path: string, content: string): Promise<void> {
    const { real } = await this.#place(path);
    await appendFile(real, content);
  }

  async replace(path: string, content: string): Promise<void> {
    const place = await this.#file(path);
    this.#fits(content);
    await writeFile(place.real, content);
  }

  /** Removes a note, or a folder with all that is in it. */
  async remove(path: string): Promise<void> {
    const place = await this.#place(path);
    if (place.kind === 'absent') throw new NoteProblem(`there is no ${place.path}`);
    if (namesOf(path).length === 0) throw new NoteProblem(`${place.path} itself cannot be deleted`);
    await rm(place.real, { recursive: true });
  }

  async rename(from: string, to: string): Promise<void> {
    const [old, fresh] = [await this.#place(from), await this.#place(to)];
    if (old.kind === 'absent') throw new NoteProblem(`there is no ${old.path}`);
    if (namesOf(from).length === 0) throw new NoteProblem(`${old.path} itself cannot be renamed`);
    if (fresh.kind !== 'absent') throw new NoteProblem(`${fresh.path} is there already`);
    if (fresh.path.startsWith(`${old.path}/`)) throw new NoteProblem(`${old.path} cannot be moved into itself`);
    await mkdir(dirname(fresh.real), { recursive: true });
    await rename(old.real, fresh.real);
  }

  #fits(content: string): void {
    if (content.length <= MAX_CHARACTERS) return;
    throw new NoteProblem(`a note has at most ${MAX_CHARACTERS} characters; this one would have ${content.length}`);
  }

  async #file(path: string): Promise<Place> {
    const place = await this.#place(path);
    if (place.kind === 'file') return place;
    throw new NoteProblem(place.kind === 'absent' ? `there is no ${place.path}` : `${place.path} is a folder`);
  }

  /** Where a path leads, looked at name by name, so that no link on the way is followed. */
  async #place(path: string): Promise<Place> {
    const names = namesOf(path);
    const place = { real: join(this.#root, ...names), path: pathOf(names) };
    let kind: Place['kind'] = 'folder';
    for (const depth of names.keys()) {
      if (kind === 'file') throw new NoteProblem(`${pathOf(names.slice(0, depth))} is a note and not a folder`);
      kind = await kindOfFile(join(this.#root, ...names.slice(0, depth + 1)));
      if (kind === 'absent') break;
    }
    return { ...place, kind };
  }
}

export async function kindOfFile(real: string): Promise<Place['kind']> {
  try {
    const found = await lstat(real);
    if (found.isFile()) return 'file';
    if (found.isDirectory()) return 'folder';
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 'absent';
    throw error;
  }
  throw new NoteProblem('this path leads to something that is neither a note nor a folder');
}
