import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AgentRequest, agentRequestSchema } from '../../src/schema/agent-protocol.ts';

export interface AgentExchange {
  request: AgentRequest;
  headers: IncomingMessage['headers'];
  /** Counts requests from 0. */
  n: number;
  response: ServerResponse;
}

export interface LoopbackAgent {
  url: string;
  /** Every request, in the order they came. */
  requests: AgentRequest[];
  /** Requests whose client closed the socket before the answer. */
  abandoned: number;
  close(): Promise<void>;
}

/**
 * An agent on 127.0.0.1. It gives the object that `answer` returns as JSON; where that is nothing, `answer` has written
 * to the response itself, or leaves the client waiting.
 */
export async function loopbackAgent(answer: (exchange: AgentExchange) => object | undefined): Promise<LoopbackAgent> {
  const requests: AgentRequest[] = [];
  const agent: LoopbackAgent = { url: '', requests, abandoned: 0, close: async () => {} };
  const server = createServer(async (incoming, response) => {
    response.once('close', () => {
      if (!response.writableFinished) agent.abandoned += 1;
    });
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const request = agentRequestSchema.parse(JSON.parse(Buffer.concat(chunks).toString('utf8')));
    const n = requests.push(request) - 1;
    const reply = answer({ request, headers: incoming.headers, n, response });
    if (reply) response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  agent.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  agent.close = () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return agent;
}
