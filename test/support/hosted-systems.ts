import type { Clock } from '../../src/contracts/call.ts';
import type { MemoryBackend } from '../../src/contracts/memory.ts';
import type { MemoryPlugin } from '../../src/contracts/plugin.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { mem0Cloud } from '../../src/memory/mem0-cloud.ts';
import { supermemory } from '../../src/memory/supermemory.ts';
import { zep } from '../../src/memory/zep.ts';
import { startLoopbackMem0 } from './loopback-mem0.ts';
import type { LoopbackService, ServiceFaults } from './loopback-service.ts';
import { startLoopbackSupermemory } from './loopback-supermemory.ts';
import { startLoopbackZep } from './loopback-zep.ts';
import { fakePluginContext } from './plugin-context.ts';

export const KEY = 'm0-1234567890abcdef';

/** A hosted memory system, and the double that its real client is run against. */
export interface System {
  plugin: MemoryPlugin;
  variable: string;
  start(options: { apiKey: string; faults?: ServiceFaults }): Promise<LoopbackService>;
}
export const mem0System: System = {
  plugin: mem0Cloud as MemoryPlugin,
  variable: 'MEM0_API_KEY',
  start: startLoopbackMem0,
};
export const zepSystem: System = { plugin: zep as MemoryPlugin, variable: 'ZEP_API_KEY', start: startLoopbackZep };
export const supermemorySystem: System = {
  plugin: supermemory as MemoryPlugin,
  variable: 'SUPERMEMORY_API_KEY',
  start: startLoopbackSupermemory,
};
export const systems: readonly System[] = [mem0System, zepSystem, supermemorySystem];

/** Longer than any wait that a test is about. */
export const DEADLINE_S = 10_000;

/** Time passes at once, but for deadlines, which never come. */
export function hastyClock(slept: number[] = []): Clock {
  return {
    ...systemClock,
    async sleep(ms, signal) {
      if (ms >= DEADLINE_S * 1000) return systemClock.sleep(60_000, signal);
      slept.push(ms);
      await systemClock.sleep(0, signal);
    },
  };
}

export interface Made {
  system: System;
  service: LoopbackService;
  file?: object;
  key?: string;
  clock?: Clock;
}

/** The plug-in over its double. */
export function make({ system, service, file, key = KEY, clock = hastyClock() }: Made): Promise<MemoryBackend> {
  const { plugin, variable } = system;
  const options = { backend: plugin.name, base_url: `${service.url}/`, timeout_s: DEADLINE_S, ...file };
  const context = { ...fakePluginContext(), clock, env: { [variable]: key } };
  return plugin.create(plugin.schema.parse(options), context);
}
