import { basename, extname } from 'node:path';
import type { Path } from '../contracts/plugin.ts';
import { HeamsError } from '../lib/errors.ts';
import { type RunFile, runFileSchema } from '../schema/run-file.ts';
import type { YamlFile } from './yaml-file.ts';

type ArmFile = NonNullable<RunFile['experiments']>[number] & {
  at: Path;
  agentAt: Path;
  memoryAt: Path;
  defenceAt: Path;
};

/** The agents that call no model, each over the memory that makes it a fixed point: none, or all there is. */
const controls = [
  ['silent', 'no_memory'],
  ['dump', 'full_context'],
  ['oracle', 'full_context'],
  ['redacted', 'full_context'],
] as const;

/** Arms that `controls: true` adds. They are written in place, so that no file need be there. */
function controlArms(settings: RunFile): ArmFile[] {
  if (!settings.controls) return [];
  return controls.map(([kind, backend]) => ({
    name: `control-${kind}`,
    agent: { kind },
    memory: { backend },
    at: ['controls'],
    agentAt: ['controls', kind],
    memoryAt: ['controls', backend],
    defenceAt: ['controls'],
  }));
}

/** In a matrix, the arms without a defence. */
const NO_DEFENCE = 'none';

/** The arms as written, or the matrix written out: `<agent>-<memory>[-<defence>]`; then the controls. */
export function armFiles(settings: RunFile): ArmFile[] {
  return [...writtenArms(settings), ...controlArms(settings)];
}

function writtenArms(settings: RunFile): ArmFile[] {
  if (settings.experiments) {
    return settings.experiments.map((arm, i) => {
      const at = ['experiments', i];
      return {
        ...arm,
        at: [...at, 'name'],
        agentAt: [...at, arm.agent ? 'agent' : 'agent_config_file'],
        memoryAt: [...at, arm.memory ? 'memory' : 'memory_config_file'],
        defenceAt: [...at, arm.defence ? 'defence' : 'defence_config_file'],
      };
    });
  }
  const stem = (file: string) => basename(file, extname(file));
  const { agents = [], memories = [], defences = [NO_DEFENCE] } = settings.matrix ?? {};
  return agents.flatMap((agent, a) =>
    memories.flatMap((memory, m) =>
      defences.map((defence, d) => ({
        name: [agent, memory, ...(defence === NO_DEFENCE ? [] : [defence])].map(stem).join('-'),
        agent_config_file: agent,
        memory_config_file: memory,
        ...(defence === NO_DEFENCE ? {} : { defence_config_file: defence }),
        at: ['matrix', 'agents', a],
        agentAt: ['matrix', 'agents', a],
        memoryAt: ['matrix', 'memories', m],
        defenceAt: ['matrix', 'defences', d],
      })),
    ),
  );
}

/** Names that the matrix makes of file names are held to the same rule as those that a user writes. */
export function badNames(arms: readonly ArmFile[], file: YamlFile): HeamsError[] {
  return arms.flatMap((arm) => {
    const problem = runFileSchema.shape.name.safeParse(arm.name).error?.issues[0];
    if (!problem) return [];
    return [
      new HeamsError(`"${arm.name}" cannot be the name of an arm`, {
        code: 'config_bad_arm_name',
        where: file.where(arm.at),
        expected: problem.message,
        found: arm.name,
        hint: 'rename the files, or write the arms out under "experiments" with names of their own',
      }),
    ];
  });
}

export function duplicateNames(arms: readonly ArmFile[], file: YamlFile): HeamsError[] {
  const seen = new Set<string>();
  return arms.flatMap((arm) => {
    // Arm names are folder names, and some file systems fold case.
    const folded = arm.name.toLowerCase();
    if (!seen.has(folded)) {
      seen.add(folded);
      return [];
    }
    return [
      new HeamsError(`two arms are called "${arm.name}"`, {
        code: 'config_duplicate_arm',
        where: file.where(arm.at),
        expected: "a name of its own for every arm: it names the arm's folder",
        found: arm.name,
        ...(arm.at[0] === 'controls' ? { hint: '"controls: true" adds an arm of this name: rename the other' } : {}),
      }),
    ];
  });
}
