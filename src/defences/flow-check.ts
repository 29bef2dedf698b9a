import { z } from 'zod';
import type { Agent, AgentMemory, Task } from '../contracts/agent.ts';
import type { CallContext } from '../contracts/call.ts';
import type { DefencePlugin } from '../contracts/plugin.ts';
import { template } from '../lib/template.ts';
import { modelSettings } from '../schema/model-settings.ts';
import { namingShape } from '../schema/naming.ts';
import type { Recall, RecallItem, Reply } from '../schema/record.ts';
import { type AskModel, askingModels, askingShape, askModel, numbered, repairTemplate } from './ask-model.ts';
import { filteredMemory, refuseUnseen } from './filtered-memory.ts';
import { flowsOf, type JudgedFlow, judgedFlowsOf, verdictsOf } from './flow-answers.ts';
import { guardedAgent, withGuidance } from './guarded-agent.ts';

const prompt = z.string().min(1);
const schema = z
  .strictObject({
    ...namingShape,
    defence: z.literal('flow_check'),
    /** Liquid templates over what the benchmark offers to agents, and `items`: JSON, one item a line. */
    extract_system_prompt: prompt,
    extract_user_prompt: prompt,
    /** A second call that judges the flows: JSON, one a line, in `flows`. Without it, the first call judges too. */
    judge_system_prompt: prompt.optional(),
    judge_user_prompt: prompt.optional(),
    /** What the agent is told, over what the benchmark offers and `flows`: each with `attribute`, `appropriate`, ... */
    advice_prompt: prompt,
    /** `advise`: the agent sees everything, and what was found about it. `withhold`: it does not see the items. */
    on_inappropriate: z.enum(['advise', 'withhold']).default('advise'),
    ...askingShape,
  })
  .refine((options) => (options.judge_system_prompt === undefined) === (options.judge_user_prompt === undefined), {
    error: 'both judge_system_prompt and judge_user_prompt, or neither',
  });
export type FlowCheckOptions = z.infer<typeof schema>;

/** Extracts information flows, judges each in its context, then has the agent act on it (after PrivacyChecker, arXiv:2509.17488). */
export const flowCheck: DefencePlugin<FlowCheckOptions> = {
  name: 'flow_check',
  summary: 'a model judges the information flows of what was recalled; the agent is told, or does not see the rest',
  needs: "a model: its provider's key, or a local server",
  schema,
  filters: () => true,
  models: askingModels,
  templates(options, offered) {
    const { judge_system_prompt: judgeSystem, judge_user_prompt: judgeUser } = options;
    const items = { variables: [...offered, 'items'] };
    const flows = { variables: [...offered, 'flows'] };
    return [
      { path: ['extract_system_prompt'], source: options.extract_system_prompt, ...items },
      { path: ['extract_user_prompt'], source: options.extract_user_prompt, ...items, requires: ['items'] },
      ...(judgeSystem === undefined ? [] : [{ path: ['judge_system_prompt'], source: judgeSystem, ...flows }]),
      ...(judgeUser === undefined
        ? []
        : [{ path: ['judge_user_prompt'], source: judgeUser, ...flows, requires: ['flows'] }]),
      { path: ['advice_prompt'], source: options.advice_prompt, ...flows, requires: ['flows'] },
      repairTemplate(options),
    ];
  },
  async create(options, context) {
    const name = options.name ?? 'flow_check';
    const model = await context.model(modelSettings(options.model_id, options));
    const judge = flowJudge(options, askModel({ name, options, model }));
    const advice = template(options.advice_prompt);
    const withhold = options.on_inappropriate === 'withhold';
    return {
      name,
      guard: (agent) =>
        guardedAgent(agent, {
          keepsMessage: true,
          respond: (task, memory, call) => {
            const check = new Check({ name, judge, withhold, task, memory, call });
            return check.answerOf(agent, (flows) => advice.render({ ...task.variables, flows }));
          },
        }),
    };
  },
};

/** The judged flows of items; those of an item are named by its number, from 1. */
type FlowJudge = (items: readonly RecallItem[], task: Task, call: CallContext) => Promise<readonly JudgedFlow[]>;

function flowJudge(options: FlowCheckOptions, ask: AskModel): FlowJudge {
  const { judge_system_prompt: judgeSystem, judge_user_prompt: judgeUser } = options;
  const [system, user] = [template(options.extract_system_prompt), template(options.extract_user_prompt)];
  return async (items, task, call) => {
    const words = { ...task.variables, items: numbered(items.map(({ text }) => text)) };
    const extract = { system: system.render(words), user: user.render(words) };
    if (judgeSystem === undefined || judgeUser === undefined) {
      return ask({ ...extract, ...judgedFlowsOf(items.length) }, call);
    }
    const flows = await ask({ ...extract, ...flowsOf(items.length) }, call);
    const listed = flows.map((flow, i) => JSON.stringify({ number: i + 1, ...flow })).join('\n');
    const given = { ...task.variables, flows: listed };
    const verdicts = await ask(
      {
        system: template(judgeSystem).render(given),
        user: template(judgeUser).render(given),
        ...verdictsOf(flows.length),
      },
      call,
    );
    return flows.map((flow, i) => {
      const { appropriate, reason } = verdicts[i] as (typeof verdicts)[number];
      return { ...flow, appropriate, reason };
    });
  };
}

interface CheckParts {
  name: string;
  judge: FlowJudge;
  withhold: boolean;
  task: Task;
  memory: AgentMemory;
  call: CallContext;
}

/** The check of one sample. What the same text was judged to be once it is for all of the sample's searches. */
class Check {
  private readonly parts: CheckParts;
  /** By an item's text, its flows. */
  private readonly known = new Map<string, readonly JudgedFlow[]>();

  constructor(parts: CheckParts) {
    this.parts = parts;
  }

  async answerOf(agent: Agent, advice: (flows: readonly JudgedFlow[]) => string): Promise<Reply> {
    const { name, task, memory, call, withhold } = this.parts;
    refuseUnseen(memory, name);
    const filtered = withhold ? filteredMemory(memory, { defence: name, sift: (items) => this.sift(items) }) : memory;
    const recall = await filtered.scope.search(task.query, memory.topK);
    const flows = await this.flowsOf(recall.items);
    const guided = flows.length === 0 ? task : withGuidance(task, advice(flows));
    const reply = await agent.respond(guided, filtered, call);
    return withRecall(reply, recall, guided !== task);
  }

  private async sift(items: readonly RecallItem[]) {
    await this.flowsOf(items);
    const isFine = ({ text }: RecallItem) => this.known.get(text)?.every(({ appropriate }) => appropriate) === true;
    return { kept: items.filter(isFine), withheld: items.filter((item) => !isFine(item)) };
  }

  /** Flows of the items in order; only those that are new are asked about. */
  private async flowsOf(items: readonly RecallItem[]): Promise<JudgedFlow[]> {
    const { judge, task, call } = this.parts;
    const fresh = [
      ...new Map(items.filter(({ text }) => !this.known.has(text)).map((item) => [item.text, item])).values(),
    ];
    if (fresh.length > 0) {
      const flows = await judge(fresh, task, call);
      for (const [i, { text }] of fresh.entries()) {
        this.known.set(
          text,
          flows.filter(({ item }) => item === i + 1),
        );
      }
    }
    const inOrder = [...new Set(items.map(({ text }) => text))];
    return inOrder.flatMap((text, i) => (this.known.get(text) ?? []).map((flow) => ({ ...flow, item: i + 1 })));
  }
}

/** Advice tells the agent of what was recalled for it, so this reached the agent too, or was kept back. */
function withRecall(reply: Reply, recall: Recall, advised: boolean): Reply {
  const told = advised || (recall.withheld ?? []).length > 0;
  if (!told || reply.recalls.some(({ query }) => query === recall.query)) return reply;
  return { ...reply, recalls: [recall, ...reply.recalls] };
}
