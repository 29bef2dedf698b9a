import { z } from 'zod';
import type { AgentPlugin } from '../contracts/plugin.ts';
import { type Env, envVariable, fillReferences, referencesIn } from '../lib/env-references.ts';
import { HeamsError } from '../lib/errors.ts';
import { seededRandom } from '../lib/random.ts';
import { redactor } from '../models/redact.ts';
import { namingShape } from '../schema/naming.ts';
import { httpTransport } from './http-transport.ts';
import { remoteAgent } from './remote-agent.ts';
import { remoteIdentity, remoteShape, toolLimitRule, variableUses } from './remote-options.ts';

/** Also true of what is no URL, which is said by another rule. */
const bare = (url: string) => {
  if (!URL.canParse(url)) return true;
  const { username, password, hash } = new URL(url);
  return username === '' && password === '' && hash === '';
};

const schema = z
  .strictObject({
    ...namingShape,
    kind: z.literal('http'),
    url: z
      .url({ protocol: /^https?$/, error: 'a URL with http or https' })
      .refine(bare, 'no user, password or fragment in it; a key goes into headers, as a reference to a variable'),
    /** Sent with every request; `${NAME}` stands for an environment variable. */
    headers: z
      .record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'the name of a header'), z.string())
      .default({}),
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
  requires: ({ url, headers }) => [
    { kind: 'server', url, path: ['url'] },
    ...Object.entries(headers).flatMap(([header, value]) =>
      referencesIn(value).map((name) => ({
        kind: 'variable' as const,
        name,
        path: ['headers', header],
        role: `the header "${header}" of an agent`,
      })),
    ),
  ],
  async create(options, { clock, env, seed }) {
    const { name = 'http', url, timeout_s: timeoutS, retries, max_connections: maxConnections } = options;
    const headers = Object.fromEntries(
      Object.entries(options.headers).map(([header, value]) => [header, filled(header, value, env)]),
    );
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

function filled(header: string, value: string, env: Env): string {
  const missing = referencesIn(value).find((name) => envVariable(env, name) === undefined);
  if (missing === undefined) return fillReferences(value, env);
  throw new HeamsError(`the header "${header}" needs ${missing}`, {
    code: 'missing_variable',
    expected: `${missing} in the environment or in a .env file here`,
    found: 'nothing',
    hint: `set ${missing}`,
  });
}
