// A memory server on the MCP SDK, for tests: over stdio when it is run, over HTTP when it is imported. What it does wrong,
// it is told: `node mcp-memory-server.mjs '{"dies":true}'`.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const wordsOf = (text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);

/** Memories by user, in order. Shared by all sessions of one server. */
export const makeState = () => new Map();

const asText = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });

export function makeMemoryServer(faults, state) {
  const server = new McpServer({ name: 'test-memory', version: '1.0.0' });
  const of = (user) => state.get(user) ?? [];
  const shown = (entries) => entries.map(({ id, text }) => ({ id, memory: { text }, tags: [] }));

  server.registerTool(
    'remember',
    { inputSchema: { user: z.string(), text: z.string(), id: z.string() } },
    async (given) => {
      if (faults.refuses) throw new Error(`no room for ${given.text}`);
      if (faults.drops === undefined || !given.text.includes(faults.drops)) {
        state.set(given.user, [
          ...of(given.user),
          { id: given.id, text: faults.rewrites ? `noted: ${given.text}` : given.text },
        ]);
      }
      return asText({ stored: true });
    },
  );

  server.registerTool(
    'recall',
    { description: 'Finds memories.', inputSchema: { user: z.string(), query: z.string(), limit: z.number().int() } },
    async ({ user, query, limit }) => {
      if (faults.silent) return new Promise(() => {});
      if (faults.dies) {
        process.stderr.write('out of memory at 0x01\u001b[31m\n');
        process.exit(3);
      }
      if (faults.huge) return asText('x'.repeat(9 * 1024 * 1024));
      if (faults.shapeless) return asText({ hits: 'none' });
      if (faults.prose) return { content: [{ type: 'text', text: 'I could not find anything.' }] };
      const wanted = wordsOf(query);
      const rank = ({ text }) => [...wordsOf(text)].filter((one) => wanted.has(one)).length;
      const ranked = of(user)
        .map((entry) => ({ entry, score: rank(entry) }))
        .sort((a, b) => b.score - a.score)
        .map(({ entry }) => entry);
      const others = faults.leaks ? [...state].filter(([name]) => name !== user).flatMap(([, entries]) => entries) : [];
      return asText({ results: shown([...others, ...ranked].slice(0, limit)) });
    },
  );

  server.registerTool('everything', { inputSchema: { user: z.string() } }, async ({ user }) =>
    asText({ results: shown(of(user)) }),
  );

  server.registerTool('forget', { inputSchema: { user: z.string() } }, async ({ user }) => {
    if (!faults.keeps) state.delete(user);
    return { content: [{ type: 'text', text: 'forgotten' }] };
  });

  server.registerTool('forget_one', { inputSchema: { user: z.string(), id: z.string() } }, async ({ user, id }) => {
    state.set(
      user,
      of(user).filter((entry) => entry.id !== id),
    );
    return { content: [{ type: 'text', text: 'forgotten' }] };
  });

  server.registerTool('environment', { inputSchema: {} }, async () => asText(process.env));
  return server;
}

/** A server on 127.0.0.1; `refuse` answers a request in its place. */
export async function startMcpHttp({ faults = {}, state = makeState(), refuse = () => undefined } = {}) {
  const requests = [];
  const sessions = new Map();
  const http = createServer(async (request, response) => {
    requests.push({ method: request.method, headers: request.headers });
    const status = refuse(request, requests.length - 1);
    if (status !== undefined) return response.writeHead(status).end('refused, whatever key-1234567890 is');
    let transport = sessions.get(request.headers['mcp-session-id']);
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => sessions.set(id, transport),
      });
      transport.onclose = () => sessions.delete(transport.sessionId);
      await makeMemoryServer(faults, state).connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${http.address().port}/mcp`,
    requests,
    sessions,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const faults = JSON.parse(process.argv[2] ?? '{}');
  if (faults.breeds) spawn('sleep', [faults.breeds], { stdio: 'ignore' });
  if (faults.never_starts) setInterval(() => {}, 1000);
  else if (faults.ends_at_once) {
    process.stderr.write('cannot open the store\n');
    process.exit(7);
  } else {
    if (faults.banner) process.stdout.write('Welcome to the memory server!\n{"jsonrpc": nonsense}\n');
    if (faults.stays) {
      process.on('SIGTERM', () => {});
      setInterval(() => {}, 1000);
    }
    await makeMemoryServer(faults, makeState()).connect(new StdioServerTransport());
  }
}
