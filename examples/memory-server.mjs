// A memory behind an address, in JavaScript and without a package: node examples/memory-server.mjs 8092
// It finds facts by the words that they share with the query; put your memory in its place. The protocol:
// docs/memory-protocol.openapi.yaml
import { createServer } from 'node:http';

const about = {
  name: 'example-memory',
  protocol: 1,
  capabilities: { rewrites: false, provenance: true, honours_k: true },
};

/** @type {Map<string, Map<string, { id: string, text: string }>>} The facts of each scope by id, in the order of writing. */
const scopes = new Map();

const words = (text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}_]+/gu));

function search(items, { query, k }) {
  const wanted = words(query);
  const scored = items.map((item) => ({
    ...item,
    score: [...words(item.text)].filter((word) => wanted.has(word)).length,
  }));
  const found = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  return { items: found.slice(0, k) };
}

function answer(method, path, body) {
  const [top, name, what = ''] = path.split('/').slice(1).map(decodeURIComponent);
  if (method === 'GET' && top === '') return [200, about];
  if (top !== 'scopes' || !name) return [404, { error: 'no such path' }];
  const scope = scopes.get(name) ?? new Map();
  const items = [...scope.values()].map(({ id, text }) => ({ text, fact_ids: [id] }));
  switch (`${method} ${what}`) {
    case 'POST facts':
      // A fact that is sent twice is kept once.
      scopes.set(name, new Map([...scope, ...body.facts.map((fact) => [fact.id, fact])]));
      return [200, {}];
    case 'GET ready':
      return [200, { ready: true }]; // with 202 and false, HEAMS asks again
    case 'GET items':
      return [200, { items }];
    case 'POST search':
      return [200, search(items, body)];
    case 'DELETE ':
      scopes.delete(name);
      return [204];
    default:
      return [405, { error: 'no such method here' }];
  }
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const sent = Buffer.concat(chunks).toString('utf8');
  const [status, body] = answer(request.method, request.url, sent === '' ? undefined : JSON.parse(sent));
  response.writeHead(status, { 'content-type': 'application/json' }).end(body && JSON.stringify(body));
});
server.listen(Number(process.argv[2] ?? 8092), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
