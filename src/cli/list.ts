import { builtinRegistry } from '../config/registry.ts';
import { providers } from '../models/providers.ts';
import { exit, type Io } from './io.ts';
import { textTable } from './table.ts';

interface Entry {
  name: string;
  summary: string;
  needs: string;
}

async function entries(plugins: Readonly<Record<string, () => Promise<Entry>>>): Promise<Entry[]> {
  const loaded = await Promise.all(Object.values(plugins).map((load) => load()));
  return loaded.map(({ name, summary, needs }) => ({ name, summary, needs }));
}

/** `heams list`: what there is, and what each needs. */
export async function list(options: { json?: boolean }, io: Io): Promise<number> {
  const groups = {
    benchmarks: await entries(builtinRegistry.benchmarks),
    memories: await entries(builtinRegistry.memories),
    agents: await entries(builtinRegistry.agents),
    defences: await entries(builtinRegistry.defences),
    providers: [...providers.values()].map(({ name, summary, needs }) => ({ name, summary, needs })),
  };
  if (options.json) {
    io.out(JSON.stringify(groups));
    return exit.done;
  }
  const titles = {
    benchmarks: 'Benchmarks',
    memories: 'Memory backends',
    agents: 'Agents',
    defences: 'Defences',
    providers: 'Model providers',
  };
  for (const [group, rows] of Object.entries(groups)) {
    io.out(`${titles[group as keyof typeof titles]}`);
    const table = textTable([['name', 'what', 'needs'], ...rows.map((row) => [row.name, row.summary, row.needs])]);
    for (const line of table) io.out(`  ${line}`);
    io.out('');
  }
  return exit.done;
}
