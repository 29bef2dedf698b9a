import type { Agent } from './agent.ts';

/**
 * Stands between an agent and the world: it may add to what the agent is told, filter what its memory gives it, and
 * change what it says. It is an agent around an agent, so that it composes with any agent and any memory.
 */
export interface Defence {
  readonly name: string;
  /** The defence plug-in whose work is in recorded replies already; the arm's records are filed under that kind. */
  readonly replays?: string;
  /** The agent behind the defence. It keeps the agent's name, `seesLabels`, `replays` and `ownMemory`. */
  guard(agent: Agent): Agent;
  close?(): Promise<void>;
}
