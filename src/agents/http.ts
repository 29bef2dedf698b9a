import { z } from 'zod';
import type { AgentPlugin } from '../contracts/plugin.ts';
import { isBareUrl } from '../lib/bare-url.ts';
import { filledHeaders, headerRequirements } from '../lib/headers.ts';
import { seededRandom } from '../lib/random.ts';
import { redactor } from '../models/redact.ts';
import { headersSchema } from '../schema/headers.ts';
import { namingShape } from '../schema/naming.ts';
import { httpTransport } from './http-transport.ts';
import { remoteAgent } from './remote-agent.ts';
import { remoteIdentity, remoteShape, toolLimitRule, variableUses } from './remote-options.ts';

const schema = z
  .strictObject({
    ...namingShape,
    kind: z.literal('http'),
    url: z
      .url({ protocol: /^https?$/, error: 'a URL with http or https' })
      // What is no URL at all is said by the rule before.
      .refine(
        (url) => !URL.canParse(url) || isBareUrl(url),
        'no user, password or fragment in it; a key goes into headers, as a reference to a variable',
      ),
    /** Sent with every request; `${NAME}` stands for an environment variable. */
    headers: headersSchema,
    ...remoteShape,
    /** How often a request is sent again after 429, 502, 503, 504 or a broken connection. */
    retries: z.int().min(0).max(20).default(3),
    max_connections: z.int().positive().max(4096).default(64),
  })
  .refine(toolLimitRule.check, toolLimitRule.error);
export type HttpOptions = z.infer<typeof schema>;

/** An agent behind an address: it is posted the task, and what HEAMS's memory gives for it, and answers with a message. */
export const http: AgentPlugin<HttpOptions> = {
  name: 'http',
  summary: 'an agent behind an address that speaks the agent protocol, with or without a memory of its own',
  needs: 'its server',
  schema,
  identity: remoteIdentity,
  templates: variableUses,
  requires: ({ url, headers }) => [{ kind: 'server', url, path: ['url'] }, ...headerRequirements(headers, 'an agent')],
  async create(options, { clock, env, seed }) {
    const { name = 'http', url, timeout_s: timeoutS, retries, max_connections: maxConnections } = options;
    const headers = filledHeaders(options.headers, env);
    const redact = redactor(Object.values(headers));
    const random = seededRandom(seed, url);
    const transport = httpTransport({
      name,
      url,
      headers,
      timeoutS,
      retries,
      maxConnections,
      clock,
      random,
      redact,
    });
    return remoteAgent({ name, options, transport, redact, clock, needsNetwork: true });
  },
};
