import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/lib/clock.ts';
import type { McpOptions } from '../../src/memory/mcp/options.ts';
import { mcp } from '../../src/memory/mcp.ts';
import type { McpFaults } from './mcp-memory-server.d.mts';
import { fakePluginContext } from './plugin-context.ts';

const server = fileURLToPath(new URL('./mcp-memory-server.mjs', import.meta.url));

/** A memory file for the test server: every user has memories of their own. */
export const mappedTools = {
  backend: 'mcp',
  write: {
    tool: 'remember',
    arguments: { user: '{{ scope }}', text: '{{ fact.text }}', id: '{{ fact.id }}' },
  },
  search: {
    tool: 'recall',
    arguments: { user: '{{ scope }}', query: '{{ query }}', limit: '{{ k }}' },
    items: 'results',
    text: 'memory.text',
  },
  list: { tool: 'everything', arguments: { user: '{{ scope }}' }, items: 'results', text: 'memory.text' },
  clear: { tool: 'forget', arguments: { user: '{{ scope }}' } },
} as const;

/** The same over stdio. */
export const overStdio = (faults: McpFaults = {}) => ({
  ...mappedTools,
  command: process.execPath,
  args: [server, JSON.stringify(faults)],
});

/** An MCP backend as a run builds it, with the real clock and nothing of the environment but what a program needs. */
export function makeMcp(file: object, env: Record<string, string> = {}) {
  const options: McpOptions = mcp.schema.parse({ backend: 'mcp', ...file });
  return mcp.create(options, {
    ...fakePluginContext(),
    clock: systemClock,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    resolve: (path) => fileURLToPath(new URL(path, new URL('./', import.meta.url))),
  });
}
