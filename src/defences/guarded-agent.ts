import type { Agent, Task } from '../contracts/agent.ts';
import type { CallContext } from '../contracts/call.ts';

export interface Guard {
  /** Whether the message is the agent's own, to the letter. */
  keepsMessage: boolean;
  respond: Agent['respond'];
}

/**
 * The agent behind a defence: everything that it declares, and another `respond`. A grade that it has of its own message
 * says nothing of a message that a defence has changed, so it is given only where messages are kept.
 */
export function guardedAgent(agent: Agent, { keepsMessage, respond }: Guard): Agent {
  const { name, seesLabels, replays, ownMemory } = agent;
  const recordedGrade = keepsMessage ? agent.recordedGrade?.bind(agent) : undefined;
  return {
    name,
    seesLabels,
    ...(replays === undefined ? {} : { replays }),
    ...(ownMemory ? { ownMemory } : {}),
    ...(recordedGrade ? { recordedGrade } : {}),
    async respond(task, memory, call) {
      call.signal.throwIfAborted();
      return respond(task, memory, call);
    },
    close: async () => agent.close?.(),
  };
}

/** The task with one more system turn at its head; blank guidance is none. */
export function withGuidance(task: Task, guidance: string): Task {
  if (guidance.trim() === '') return task;
  return { ...task, turns: [{ role: 'system', content: guidance }, ...task.turns] };
}

/** Who pays for what a defence asks a model: the defence, whatever stage it works in. */
export const byDefence = (call: CallContext): CallContext => ({ ...call, stage: 'defence' });
