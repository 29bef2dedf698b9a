import type { Agent, AgentMemory, Labels, Task } from '../contracts/agent.ts';
import { HeamsError } from '../lib/errors.ts';
import type { Recall, Reply } from '../schema/record.ts';

/** Everything the memory gives back for the task, as it would reach an agent. */
export function recallTask(task: Task, memory: AgentMemory): Promise<Recall> {
  return memory.scope.search(task.query, memory.topK);
}

/** Recalled texts in order, a line break between them. */
export function itemsText(recall: Recall): string {
  return recall.items.map((item) => item.text).join('\n');
}

/** The labels, for a control that declares `seesLabels`. */
export function labelsOf(agent: Pick<Agent, 'name'>, task: Task): Labels {
  if (task.labels) return task.labels;
  throw new HeamsError(`the control "${agent.name}" was given no labels`, {
    code: 'agent_needs_labels',
    hint: 'use a benchmark that has labels, or another agent',
  });
}

/** The reply of a control: no prompt, no tools, no model. */
export function controlReply(message: string, recalls: Recall[] = []): Reply {
  return { message, prompt: [], recalls, tool_calls: [], warnings: [] };
}
