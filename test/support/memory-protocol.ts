import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('../../', import.meta.url));
export const pythonIsHere = spawnSync('python3', ['-c', '']).status === 0;

interface Operation {
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, { $ref?: string; content?: Record<string, { schema: object }> }>;
}
export interface OpenApi {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
}

export const protocol = parse(readFileSync(`${root}docs/memory-protocol.openapi.yaml`, 'utf8')) as OpenApi;

/** JSON Schema's own checker over the document, apart from the schemas that HEAMS parses with. */
const ajv = new Ajv2020({ strict: true, allErrors: true });
ajv.addVocabulary(['components']);
ajv.addSchema({ $id: 'protocol', components: { schemas: protocol.components.schemas } });
// `$ref`s of the document are looked up in the document.
const within = (schema: object) =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"protocol#/components/')) as object;

function problemsOf(what: string, schema: object, text: string): string[] {
  const check = ajv.compile(within(schema));
  return check(JSON.parse(text)) ? [] : [`${what}: ${ajv.errorsText(check.errors)}: ${text.slice(0, 300)}`];
}

/** One request and its answer, as they went over the wire. */
export interface Exchange {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  sent: string;
  status: number;
  received: string;
}

/** `POST /scopes/{scope}/facts`, for the path of an exchange; nothing where the document has none. */
export function operationOf({ method, path }: Pick<Exchange, 'method' | 'path'>): [string, Operation] | undefined {
  for (const [template, operations] of Object.entries(protocol.paths)) {
    const pattern = new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
    const operation = operations[method.toLowerCase()];
    if (pattern.test(path) && operation) return [`${method} ${template}`, operation];
  }
  return undefined;
}

/** What of an exchange is not as the document has it. */
export function violations(exchange: Exchange): string[] {
  const [name, operation] = operationOf(exchange) ?? [];
  if (name === undefined || operation === undefined)
    return [`${exchange.method} ${exchange.path}: not in the document`];
  const asked = operation.requestBody?.content['application/json']?.schema;
  const response = operation.responses[String(exchange.status)];
  const answered = response?.content?.['application/json']?.schema;
  return [
    ...(asked ? problemsOf(`${name} request`, asked, exchange.sent) : exchange.sent === '' ? [] : [`${name}: a body`]),
    ...(response ? [] : [`${name}: status ${exchange.status}`]),
    ...(answered ? problemsOf(`${name} ${exchange.status}`, answered, exchange.received) : []),
  ];
}

export interface Running {
  url: string;
  close(): Promise<void>;
}

/** Starts one of the example memories in a process of its own. */
export async function startExample(file: 'memory_server.py' | 'memory-server.mjs'): Promise<Running> {
  const program = file.endsWith('.py') ? 'python3' : process.execPath;
  const child: ChildProcess = spawn(program, [`${root}examples/${file}`, '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.once('data', (line: Buffer) => resolve(/http\S+/.exec(line.toString())?.[0] ?? ''));
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)));
    child.once('error', reject);
  });
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill();
      }),
  };
}

/** Stands in front of a memory and keeps what goes through. */
export async function recordingProxy(target: string): Promise<Running & { exchanges: Exchange[] }> {
  const exchanges: Exchange[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url: path = '', headers } = request;
    const sent = Buffer.concat(chunks).toString('utf8');
    const answer = await fetch(target + path, { method, ...(sent === '' ? {} : { body: sent }) });
    const received = await answer.text();
    exchanges.push({ method, path, headers, sent, status: answer.status, received });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(received);
  });
  return { exchanges, ...(await listening(server)) };
}

export async function listening(server: ReturnType<typeof createServer>): Promise<Running> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
