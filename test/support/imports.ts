import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import ts from 'typescript';
import { packageRoot } from '../../src/lib/shipped.ts';

/** One import of one source file. Paths are relative to the repository, with `/`. */
export interface Import {
  from: string;
  line: number;
  /** A file of the repository, or the specifier of a package or built-in. */
  to: string;
  package: boolean;
  /** Gone at run time. */
  typeOnly: boolean;
  /** `import(...)`: loaded when it is reached. */
  dynamic: boolean;
}

export interface SourceFile {
  path: string;
  ast: ts.SourceFile;
}

const root = packageRoot();
const inRepository = (file: string) => relative(root, file).split(sep).join('/');

/** Every TypeScript file below a folder of the repository, tests left out. */
export function sourceFiles(folder: string): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => ({
      path: inRepository(file),
      ast: ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true),
    }));
}

export const lineOf = ({ ast }: SourceFile, node: ts.Node): number =>
  ast.getLineAndCharacterOfPosition(node.getStart(ast)).line + 1;

/** Calls `visit` for every node of a file. */
export function everyNode({ ast }: SourceFile, visit: (node: ts.Node) => void): void {
  const walk = (node: ts.Node): void => {
    visit(node);
    ts.forEachChild(node, walk);
  };
  walk(ast);
}

/** The specifier of an import in any of its forms, and how it is meant. */
function importOf(node: ts.Node): { specifier: ts.Node; typeOnly: boolean; dynamic: boolean } | undefined {
  if (ts.isImportDeclaration(node)) {
    return { specifier: node.moduleSpecifier, typeOnly: node.importClause?.isTypeOnly === true, dynamic: false };
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
    return { specifier: node.moduleSpecifier, typeOnly: node.isTypeOnly, dynamic: false };
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    return { specifier: node.argument.literal, typeOnly: true, dynamic: false };
  }
  const [specifier] = ts.isCallExpression(node) ? node.arguments : [];
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword && specifier) {
    return { specifier, typeOnly: false, dynamic: true };
  }
  return undefined;
}

/** Every import of a file whose target is written out. */
export function importsOf(file: SourceFile): Import[] {
  const found: Import[] = [];
  everyNode(file, (node) => {
    const one = importOf(node);
    if (!one || !ts.isStringLiteralLike(one.specifier)) return;
    const target = one.specifier.text;
    const local = target.startsWith('.');
    found.push({
      from: file.path,
      line: lineOf(file, node),
      to: local ? inRepository(join(dirname(file.ast.fileName), target)) : target,
      package: !local,
      typeOnly: one.typeOnly,
      dynamic: one.dynamic,
    });
  });
  return found;
}

/** Groups of files that import each other in a circle (Tarjan's strongly connected components), each in order. */
export function cyclesOf(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (node: string): void => {
    index.set(node, index.size);
    low.set(node, index.get(node) as number);
    stack.push(node);
    for (const next of edges.get(node) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(node, Math.min(low.get(node) as number, low.get(next) as number));
    }
    if (low.get(node) !== index.get(node)) return;
    const group = stack.splice(stack.indexOf(node));
    if (group.length > 1 || (edges.get(node) ?? []).includes(node)) cycles.push(group.sort());
  };
  for (const node of edges.keys()) if (!index.has(node)) visit(node);
  return cycles;
}
