import type { MemoryPlugin } from '../contracts/plugin.ts';
import { type McpOptions, mcpIdentity, mcpSchema, needsOf, settingsOf, templateUses } from './mcp/options.ts';
import { placesOf } from './mcp/places.ts';
import { loadSdk } from './mcp/sdk.ts';
import { McpStore } from './mcp/store.ts';
import { serviceBackend } from './service-backend.ts';

/** Any memory server that speaks the Model Context Protocol, by a mapping of its tools. */
export const mcp: MemoryPlugin<McpOptions> = {
  name: 'mcp',
  summary: 'a memory server that speaks MCP, over stdio or HTTP, or its tools in the hands of the agent',
  needs: 'the package @modelcontextprotocol/sdk, and the server',
  schema: mcpSchema,
  requires: needsOf,
  templates: templateUses,
  identity: mcpIdentity,
  inlined: (options, resolve) => ({ ...options, cwd: resolve(options.cwd) }),
  async create(options, context) {
    const settings = settingsOf(options);
    const { write, search, list, clear, agentTools } = settings;
    const tools = [write, search, list, clear, ...agentTools].flatMap((one) => (one ? [one.tool] : []));
    const places = placesOf({ settings, context, sdk: await loadSdk(), tools });
    return serviceBackend({
      name: 'mcp',
      topK: settings.top_k,
      clock: context.clock,
      pollMs: settings.poll_interval_s * 1000,
      capabilities: {
        stores: true,
        rewrites: settings.rewrites,
        provenance: !settings.rewrites || (list?.fact_id !== undefined && search?.fact_id !== undefined),
        honours_k: true,
        needs_network: settings.url !== undefined,
        needs_key: false,
        max_concurrency: settings.max_concurrency,
      },
      open: (scopeId, call) => McpStore.open({ settings, places, scopeId, call }),
      close: () => places.close(),
    });
  },
};
