import { z } from 'zod';
import type { Task } from '../contracts/agent.ts';
import type { DefencePlugin } from '../contracts/plugin.ts';
import { HeamsError } from '../lib/errors.ts';
import { template } from '../lib/template.ts';
import { namingShape } from '../schema/naming.ts';
import type { Reply } from '../schema/record.ts';
import { guardedAgent, withGuidance } from './guarded-agent.ts';

const marker = z.string().trim().min(3, 'a mark of three characters or more');
const schema = z
  .strictObject({
    ...namingShape,
    defence: z.literal('ci_cot'),
    /** The words, a Liquid template over what the benchmark offers to agents, `answer_start` and `answer_end`. */
    prompt: z.string().min(1),
    /** What is said in its place once a reply had no answer: the same, and what was wrong. */
    retry_prompt: z.string().min(1),
    /** Marks around the answer, as the model is to write them. */
    answer_start: marker.default('<answer>'),
    answer_end: marker.default('</answer>'),
    /** Replies for one answer, the first one included; then the sample fails. */
    attempts: z.int().min(1).max(5).default(2),
  })
  .refine(({ answer_start, answer_end }) => answer_start !== answer_end, {
    path: ['answer_end'],
    error: 'another mark than answer_start',
  });
export type CiCotOptions = z.infer<typeof schema>;

/** Reasoning before the answer; the answer alone is the message (CI-CoT, arXiv:2506.04245). */
export const ciCot: DefencePlugin<CiCotOptions> = {
  name: 'ci_cot',
  summary: 'has the agent reason about each attribute first; the answer between two marks alone is sent',
  needs: 'an agent that follows a system turn',
  schema,
  templates: ({ prompt, retry_prompt: retry }, offered) =>
    [
      { path: ['prompt'], source: prompt },
      { path: ['retry_prompt'], source: retry },
    ].map((use) => ({
      ...use,
      variables: [...offered, 'answer_start', 'answer_end'],
      requires: ['answer_start', 'answer_end'],
    })),
  async create(options) {
    const name = options.name ?? 'ci_cot';
    const [first, again] = [template(options.prompt), template(options.retry_prompt)];
    const { answer_start, answer_end, attempts } = options;
    const guided = (task: Task, attempt: number): Task => {
      const words = attempt === 1 ? first : again;
      return withGuidance(task, words.render({ ...task.variables, answer_start, answer_end }));
    };
    return {
      name,
      guard: (agent) =>
        guardedAgent(agent, {
          keepsMessage: false,
          async respond(task, memory, call) {
            const earlier: Reply[] = [];
            for (let attempt = 1; attempt <= attempts; attempt++) {
              const reply = await agent.respond(guided(task, attempt), memory, call);
              const parts = answerIn(reply.message, answer_start, answer_end);
              if (parts) return withAnswer(reply, parts, earlier);
              earlier.push(reply);
            }
            throw noAnswer(name, agent.name, options);
          },
        }),
    };
  },
};

interface Parts {
  answer: string;
  reasoning: string;
}

/** What stands between the last start mark and the end mark after it; nothing where either is missing. */
function answerIn(message: string, start: string, end: string): Parts | undefined {
  const open = message.lastIndexOf(start);
  if (open < 0) return undefined;
  const close = message.indexOf(end, open + start.length);
  if (close < 0) return undefined;
  const outside = [message.slice(0, open), message.slice(close + end.length)].map((text) => text.trim());
  return {
    answer: message.slice(open + start.length, close).trim(),
    reasoning: outside.filter((text) => text !== '').join('\n\n'),
  };
}

/** What replies without an answer recalled has reached the agent as well. */
function withAnswer(reply: Reply, { answer, reasoning }: Parts, earlier: readonly Reply[]): Reply {
  const thought = [...earlier.map(({ message }) => message), reply.reasoning ?? '', reasoning].filter(
    (text) => text.trim() !== '',
  );
  const all = [...earlier, reply];
  return {
    ...reply,
    message: answer,
    ...(thought.length === 0 ? {} : { reasoning: thought.join('\n\n') }),
    recalls: all.flatMap(({ recalls }) => recalls),
    tool_calls: all.flatMap(({ tool_calls }) => tool_calls),
    warnings: [...new Set(all.flatMap(({ warnings }) => warnings))],
  };
}

function noAnswer(name: string, agent: string, { answer_start, answer_end, attempts }: CiCotOptions): HeamsError {
  return new HeamsError(`the defence "${name}" found no answer in what the agent "${agent}" said`, {
    code: 'defence_no_answer',
    expected: `a message between ${answer_start} and ${answer_end}`,
    found: `none in ${attempts} ${attempts === 1 ? 'reply' : 'replies'}`,
    hint: 'an agent that asks no model, such as dump, cannot follow ci_cot: give it to model agents alone; with a model, raise max_tokens or attempts',
  });
}
