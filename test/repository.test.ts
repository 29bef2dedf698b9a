import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { buildProgram } from '../src/cli/program.ts';
import { packageRoot } from '../src/lib/shipped.ts';
import { VERSION } from '../src/lib/version.ts';

const root = packageRoot();
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const exists = (file: string) => existsSync(join(root, file));

/** Files that are in the repository or would be with the next commit; nothing where there is no git to ask. */
function repositoryFiles(): string[] | undefined {
  try {
    const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root, stdio: 'pipe' });
    return listed
      .toString()
      .split('\0')
      .filter((file) => file !== '' && exists(file) && statSync(join(root, file)).isFile());
  } catch {
    return undefined;
  }
}
const tracked = repositoryFiles();

function filesBelow(folder: string, ends: RegExp): string[] {
  if (!exists(folder)) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && ends.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

const pages = () => ['README.md', 'AGENTS.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...filesBelow('docs', /\.md$/)];

/** What a page shows as code: fenced blocks without their fences, and spans between backticks. */
function codeOf(page: string): string[] {
  const text = read(page);
  const blocks = [...text.matchAll(/^```[^\n]*\n([\s\S]*?)^```/gm)].map((match) => match[1] as string);
  const prose = text.replace(/^```[\s\S]*?^```/gm, '');
  return [
    ...blocks.flatMap((block) => block.split('\n')),
    ...[...prose.matchAll(/`([^`]+)`/g)].map((m) => m[1] as string),
  ];
}

describe('AGENTS.md', () => {
  it('has fewer than 100 lines', () => {
    expect(read('AGENTS.md').trimEnd().split('\n').length).toBeLessThan(100);
  });

  it('names nothing that is not there', () => {
    const pathLike = /^(?:[\w.-]+\/)+[\w.-]*$|^[\w.-]+\.(?:ts|mjs|md|json|yaml)$/;
    const missing: string[] = [];
    for (const code of codeOf('AGENTS.md')) {
      const [folder = '', ...rest] = code.split(/[\s(),;:]+/).filter(Boolean);
      for (const word of [folder, ...rest].filter((one) => pathLike.test(one))) {
        // A name stands for itself, for a part of src, or for a file of the folder that its line is about.
        if (![word, join('src', word), join(folder, word)].some(exists)) missing.push(word);
      }
    }
    expect(missing).toEqual([]);
  });

  it('names every part of src', () => {
    const text = read('AGENTS.md');
    const parts = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(parts.map((entry) => `src/${entry.name}/`).filter((part) => !text.includes(part))).toEqual([]);
  });
});

describe('the package', () => {
  const manifest = JSON.parse(read('package.json'));

  it('has one version', () => {
    expect(VERSION).toBe(manifest.version);
    expect(JSON.parse(read('package-lock.json')).version).toBe(manifest.version);
  });

  it('says which Node it needs', () => {
    expect(manifest.engines.node).toBe('>=20.19');
  });
});

describe('the files', () => {
  it.skipIf(!tracked)('name no place or host of the machine they were written on (needs git)', () => {
    // Put together here, so that this file does not hold them itself.
    const hosts = ['registry', 'deb'].map((kind) => `${kind}\\.(?:npmjs|npmmirror|yarnpkg|debian)`);
    const places = ['work', 'tmp'].map((folder) => `(?<![\\w.~-])/${folder}/[\\w.-]`);
    const pattern = new RegExp([...hosts, ...places].join('|'));
    const found = (tracked ?? [])
      .filter((file) => file !== 'package-lock.json')
      .flatMap((file) => {
        const lines = readFileSync(join(root, file), 'utf8').split('\n');
        return lines.flatMap((line, i) => (pattern.test(line) ? [`${file}:${i + 1}: ${pattern.exec(line)?.[0]}`] : []));
      });
    expect(found).toEqual([]);
  });

  it('of code have at most 300 lines', () => {
    const code = ['src', 'scripts', 'bench', 'examples', 'viewer/src'].flatMap((folder) =>
      filesBelow(folder, /\.(ts|tsx|mjs)$/),
    );
    const long = code
      .filter((file) => !/\.test\.tsx?$/.test(file))
      .map((file) => ({ file, lines: read(file).trimEnd().split('\n').length }))
      .filter(({ lines }) => lines > 300);
    expect(long).toEqual([]);
  });
});

describe('the documentation', () => {
  it('links to nothing that is not there', () => {
    const broken = pages().flatMap((page) => {
      const text = read(page).replace(/^```[\s\S]*?^```/gm, '');
      const targets = [
        ...[...text.matchAll(/\]\(\s*<?([^)\s>]+)/g)].map((match) => match[1] as string),
        ...[...text.matchAll(/^\[[^\]]+\]:\s*(\S+)/gm)].map((match) => match[1] as string),
        ...[...text.matchAll(/\b(?:src|href)="([^"]+)"/g)].map((match) => match[1] as string),
      ];
      return targets
        .filter((target) => !/^[a-z][a-z+.-]*:|^#/i.test(target))
        .filter((target) => !exists(join(dirname(page), decodeURI(target.split('#')[0] as string))))
        .map((target) => `${page}: ${target}`);
    });
    expect(broken).toEqual([]);
  });

  it('links to no heading that is not there', () => {
    const slug = (heading: string) =>
      heading
        .trim()
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replace(/\s/g, '-');
    const anchors = (page: string) =>
      [
        ...read(page)
          .replace(/^```[\s\S]*?^```/gm, '')
          .matchAll(/^#+ (.+)$/gm),
      ].map((match) => slug(match[1] as string));
    const broken = pages().flatMap((page) =>
      [...read(page).matchAll(/\]\(([^)\s#:]*)#([^)\s]+)\)/g)].flatMap(([, file, anchor]) => {
        const target = file ? join(dirname(page), file) : page;
        const there = !target.endsWith('.md') || (exists(target) && anchors(target).includes(anchor as string));
        return there ? [] : [`${page}: ${file}#${anchor}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  describe('of the command line', () => {
    const program = buildProgram({ out: () => {}, note: () => {}, terminal: false, env: {}, cwd: root }, () => {});

    /** The command that words name, as far as they name one, and the words that are left. */
    function commandOf(words: readonly string[]): { command: Command; rest: readonly string[] } {
      let command: Command = program;
      let rest = words;
      for (;;) {
        const next = command.commands.find((one) => one.name() === rest[0]);
        if (!next) return { command, rest };
        command = next;
        rest = rest.slice(1);
      }
    }

    const calls = pages().flatMap((page) =>
      codeOf(page).flatMap((code) =>
        [
          ...code
            .replace(/\s#.*$/, '')
            .replace(/\s+/g, ' ')
            .matchAll(/(?:^|[\s(])heams ([a-z-].*)$/g),
        ].map((match) => ({
          page,
          words: (match[1] as string).split(/[:;,.)]*\s+|[:;,.)]+$/).filter(Boolean),
        })),
      ),
    );

    it('is there', () => {
      expect(calls.length).toBeGreaterThan(3);
    });

    it('names verbs that there are', () => {
      const unknown = calls.filter(({ words }) => {
        const { command, rest } = commandOf(words);
        if (words[0]?.startsWith('-')) return false;
        // A command with commands of its own needs one of them, unless it takes arguments itself.
        const needsOne = command.commands.length > 0 && command.registeredArguments.length === 0;
        return command === program || (needsOne && /^[a-z]/.test(rest[0] ?? ''));
      });
      expect(unknown.map(({ page, words }) => `${page}: heams ${words.join(' ')}`)).toEqual([]);
    });

    it('names options that their verbs have', () => {
      const unknown = calls.flatMap(({ page, words }) => {
        const { command, rest } = commandOf(words);
        const known = ['--help', '-h', ...command.options.flatMap((option) => [option.long, option.short])];
        return rest
          .filter((word) => /^--?[a-z]/.test(word))
          .map((word) => word.split('=')[0] as string)
          .filter((word) => !known.includes(word))
          .map((word) => `${page}: heams ${command.name()} ${word}`);
      });
      expect(unknown).toEqual([]);
    });

    it('covers every verb', () => {
      const named = new Set(calls.map(({ words }) => words[0]));
      expect(program.commands.map((command) => command.name()).filter((verb) => !named.has(verb))).toEqual([]);
    });
  });
});
