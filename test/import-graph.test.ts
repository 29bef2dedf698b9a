import { isBuiltin } from 'node:module';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { cyclesOf, everyNode, type Import, importsOf, lineOf, sourceFiles } from './support/imports.ts';

const files = sourceFiles('src');
const imports = files.flatMap(importsOf);

/** The folder of `src` that a file is in: `lib`, `run`, ...; nothing for a package. */
const layerOf = (path: string): string | undefined => /^src\/([^/]+)\//.exec(path)?.[1];
const inLayers = (layers: readonly string[]) => (one: Import) => layers.includes(layerOf(one.from) ?? '');
const said = (one: Import) => `${one.from}:${one.line} imports ${one.typeOnly ? 'a type from ' : ''}${one.to}`;

/** Imports out of some layers that a rule does not allow, as text. */
function violations(layers: readonly string[], allowed: (one: Import) => boolean): string[] {
  return imports
    .filter(inLayers(layers))
    .filter((one) => !allowed(one))
    .map(said);
}
const withinSrc =
  (...layers: string[]) =>
  (one: Import) =>
    one.package || layers.includes(layerOf(one.to) ?? '');
const nothingOf =
  (...layers: string[]) =>
  (one: Import) =>
    one.package || !layers.includes(layerOf(one.to) ?? '');

describe('what the test sees', () => {
  it('is the whole of src, with every form of import', () => {
    expect(files.length).toBeGreaterThan(50);
    expect(imports.some((one) => one.dynamic && !one.package)).toBe(true);
    expect(imports.some((one) => one.typeOnly)).toBe(true);
    expect(imports.some((one) => isBuiltin(one.to))).toBe(true);
  });

  it('finds circles', () => {
    const edges = new Map([
      ['a', ['b']],
      ['b', ['c', 'd']],
      ['c', ['a']],
      ['d', ['e']],
      ['e', []],
      ['self', ['self']],
    ]);
    expect(cyclesOf(edges)).toEqual([['a', 'b', 'c'], ['self']]);
  });
});

describe('arrows point downwards', () => {
  it('schema imports zod and itself', () => {
    expect(violations(['schema'], (one) => one.to === 'zod' || layerOf(one.to) === 'schema')).toEqual([]);
  });

  it('lib imports no part of HEAMS but schema and the types of contracts', () => {
    const types = (one: Import) => one.typeOnly && layerOf(one.to) === 'contracts';
    expect(violations(['lib'], (one) => types(one) || withinSrc('lib', 'schema')(one))).toEqual([]);
  });

  it('contracts imports schema and lib', () => {
    expect(violations(['contracts'], withinSrc('contracts', 'schema', 'lib'))).toEqual([]);
  });

  it('stats imports schema and lib', () => {
    expect(violations(['stats'], withinSrc('stats', 'schema', 'lib'))).toEqual([]);
  });

  it('run, store, memory, agents, defences, models and datasets know no benchmark and nothing above them', () => {
    const layers = ['run', 'store', 'memory', 'agents', 'defences', 'models', 'datasets'];
    expect(violations(layers, nothingOf('benchmarks', 'config', 'cli', 'report'))).toEqual([]);
  });

  it('run knows contracts, and no backend, agent, defence, model or store', () => {
    expect(violations(['run'], nothingOf('memory', 'agents', 'defences', 'models', 'store'))).toEqual([]);
  });

  it('report knows no benchmark', () => {
    expect(violations(['report'], nothingOf('benchmarks'))).toEqual([]);
  });

  it('nothing but the command line imports the command line', () => {
    const others = [...new Set(files.map((file) => layerOf(file.path) ?? ''))].filter((layer) => layer !== 'cli');
    expect(violations(others, nothingOf('cli'))).toEqual([]);
  });

  it('src imports nothing of the repository that is not in src', () => {
    expect(imports.filter((one) => !one.package && !one.to.startsWith('src/')).map(said)).toEqual([]);
  });

  it('plug-ins never import each other', () => {
    const plugins = new Set(
      imports.filter((one) => one.dynamic && one.from === 'src/config/registry.ts').map((one) => one.to),
    );
    expect(plugins.size).toBeGreaterThanOrEqual(11);
    expect(imports.filter((one) => plugins.has(one.from) && plugins.has(one.to)).map(said)).toEqual([]);
  });

  it('no two files import each other, by whatever detour', () => {
    const edges = new Map(
      files.map((file) => [
        file.path,
        imports.filter((one) => one.from === file.path && !one.typeOnly && !one.package).map((one) => one.to),
      ]),
    );
    expect(cyclesOf(edges)).toEqual([]);
  });
});

describe('the world outside', () => {
  const outsideCli = files.filter((file) => layerOf(file.path) !== 'cli');

  /** Uses of `object.property` outside the command line; of any property where none is named. */
  function uses(object: string, properties?: readonly string[]): string[] {
    const found: string[] = [];
    for (const file of outsideCli) {
      everyNode(file, (node) => {
        if (ts.isVariableDeclaration(node) && node.initializer?.getText(file.ast) === object) {
          found.push(`${file.path}:${lineOf(file, node)} takes ${object} apart`);
        }
        if (!ts.isPropertyAccessExpression(node) && !ts.isElementAccessExpression(node)) return;
        if (node.expression.getText(file.ast).replace(/^globalThis\??\./, '') !== object) return;
        const property = ts.isPropertyAccessExpression(node)
          ? node.name.text
          : node.argumentExpression.getText(file.ast);
        if (properties && !properties.includes(property)) return;
        found.push(`${file.path}:${lineOf(file, node)} uses ${object}.${property}`);
      });
    }
    return found;
  }

  it('is read through process.env and process.argv in the command line alone', () => {
    // mem0 takes what keeps it quiet from the environment and in no other way: it is written there, and nothing is read.
    const written = /^src\/memory\/mem0ai\/quiet\.ts:\d+ uses process\.env$/;
    const found = uses('process', ['env', 'argv', "'env'", "'argv'"]);
    expect(found.filter((use) => !written.test(use))).toEqual([]);
    expect(found.length).toBe(2);
    const named = imports.filter((one) => /^(node:)?process$/.test(one.to) && layerOf(one.from) !== 'cli');
    expect(named.map(said)).toEqual([]);
  });

  it('is written to through the console in the command line alone', () => {
    expect(uses('console')).toEqual([]);
    const named = imports.filter((one) => /^(node:)?console$/.test(one.to) && layerOf(one.from) !== 'cli');
    expect(named.map(said)).toEqual([]);
  });
});
