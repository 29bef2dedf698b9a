// An agent behind an address, in JavaScript and without a package: node examples/agent.mjs 8090
// It says everything that it was given or told, which is enough to see what goes where; put your assistant in its place.
// What it may be asked, and what it may answer: docs/agent-protocol.md
import { createServer } from 'node:http';

/** @type {Map<string, string[]>} Its own memory: what the user told it, by scope. */
const told = new Map();

function respond({ scope, turns, memories, tools, steps = [], tool_calls_left = 0, told: count }) {
  if (tools && steps.length === 0 && tool_calls_left > 0) {
    const query = turns.at(-1).content;
    return { tool_calls: [{ id: 'call-1', name: tools[0].name, input: { query } }] };
  }
  const own = told.get(scope) ?? [];
  // It was told more than it remembers: started again in between, it would look more discreet than it is.
  if (count !== undefined && count !== own.length) return fail('memory_lost', `told ${count}, remembers ${own.length}`);
  const found = steps.flatMap(({ results }) => results.map(({ content }) => content));
  const notes = memories ?? (tools ? found : own);
  // Says that no model was called. An agent that calls one reports it: { calls: 1, input_tokens: 812, ... }
  return { message: notes.join('\n'), usage: { calls: 0 } };
}

function tell({ scope, turns }) {
  told.set(scope, [...(told.get(scope) ?? []), ...turns.map(({ content }) => content)]);
  return { told: true, message: 'Noted.', usage: { calls: 0 } };
}

function forget({ scope }) {
  told.delete(scope);
  return { forgotten: true };
}

const fail = (code, message) => ({ error: { code, message } });

function answer(request) {
  if (request.protocol !== 1) return fail('unknown_protocol', 'this agent speaks version 1');
  if (request.type === 'respond') return respond(request);
  if (request.type === 'tell') return tell(request);
  if (request.type === 'forget') return forget(request);
  return fail('unknown_type', String(request.type));
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const reply = answer(JSON.parse(Buffer.concat(chunks).toString('utf8')));
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
});
server.listen(Number(process.argv[2] ?? 8090), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
