import { z } from 'zod';
import type { MemoryPlugin } from '../contracts/plugin.ts';
import { HeamsError } from '../lib/errors.ts';
import { template } from '../lib/template.ts';
import { namingShape } from '../schema/naming.ts';
import type { Fact } from '../schema/record.ts';
import { noSearchShape } from './options.ts';

const schema = z.strictObject({
  ...namingShape,
  backend: z.literal('own_memory'),
  ...noSearchShape,
  /** The user's turn that tells facts, a Liquid template over `facts` (each with `key` and `text`), `session` and `at`. */
  telling: z.string().min(1),
  /** `session`: one turn for all facts of a session. `fact`: one turn each. */
  each: z.enum(['fact', 'session']).default('session'),
});
export type OwnMemoryFileOptions = z.infer<typeof schema>;

/** The agent's own memory: facts are told to the agent in earlier turns, and nobody but the agent can search them. */
export const ownMemory: MemoryPlugin<OwnMemoryFileOptions> = {
  name: 'own_memory',
  summary: "the agent's own memory, told the facts in earlier turns and measured from outside",
  needs: 'an agent that has one: `http` or `command`, or `llm`, with memory_strategy: none',
  schema,
  ofAgent: true,
  templates: ({ telling }) => [
    { path: ['telling'], source: telling, variables: ['facts', 'session', 'at'], requires: ['facts'] },
  ],
  async create({ telling, each }, { agent }) {
    const own = agent?.ownMemory;
    if (!own) throw noOwnMemory(agent?.name);
    const words = template(telling);
    return own({ telling: (facts) => words.render(wordsOf(facts)), each });
  },
};

/** What a person could say of them. That a fact is a distractor, say, is not among it. */
function wordsOf(facts: readonly Fact[]) {
  const [first] = facts;
  const { session = '', at = '' } = first ?? {};
  return { facts: facts.map(({ key, text }) => ({ key, text })), session, at };
}

function noOwnMemory(agent: string | undefined): HeamsError {
  const who = agent === undefined ? 'this arm has no agent that' : `the agent "${agent}" has no memory of its own that`;
  return new HeamsError(`${who} "backend: own_memory" could tell the facts to`, {
    code: 'agent_without_own_memory',
    expected: 'an agent of kind http, command or llm with memory_strategy: none',
    ...(agent === undefined ? {} : { found: `the agent "${agent}"` }),
    hint: 'take another memory for this agent, or set memory_strategy: none in its file',
  });
}
