import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkModels } from '../../src/config/check-models.ts';
import { checkRequirements } from '../../src/config/check-requirements.ts';
import { loadMemory } from '../../src/config/load-memory.ts';
import { builtinRegistry } from '../../src/config/registry.ts';
import type { Component } from '../../src/config/run.ts';
import type { MemoryPlugin } from '../../src/contracts/plugin.ts';
import { packageRoot } from '../../src/lib/shipped.ts';

export interface ShippedMemory {
  /** Name of its file, without the ending. */
  name: string;
  component: Component<MemoryPlugin>;
  /** Why it cannot be used here, in words; absent where it can. */
  lacks?: string;
}

/** Every memory config that HEAMS ships, with what keeps it from being used in this environment. */
export async function shippedMemories(env: Record<string, string> = {}): Promise<ShippedMemory[]> {
  const folder = join(packageRoot(), 'configs/memory');
  const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));
  return Promise.all(
    files.map(async (file) => {
      const component = await loadMemory(join(folder, file), builtinRegistry);
      const name = file.replace(/\.yaml$/, '');
      if (component.plugin.ofAgent) return { name, component, lacks: 'nobody but its agent can search it' };
      try {
        checkModels([component], env);
        checkRequirements([component], env);
      } catch (error) {
        return { name, component, lacks: (error as Error).message };
      }
      const servers = (component.plugin.requires?.(component.options) ?? []).filter(({ kind }) => kind === 'server');
      if (servers.length > 0) return { name, component, lacks: 'needs a server of its own' };
      return { name, component };
    }),
  );
}
