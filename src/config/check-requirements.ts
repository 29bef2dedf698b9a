import type { Requirement } from '../contracts/plugin.ts';
import { type Env, envVariable } from '../lib/env-references.ts';
import { HeamsError, throwIfAny } from '../lib/errors.ts';
import { isInstalled, notInstalled } from '../lib/optional-package.ts';
import { type Component, components, type Parts } from './run.ts';

/** Everything beside models that a run's components need, with who needs it. */
export function requirementsOf(run: Parts): { component: Component; requirement: Requirement }[] {
  return components(run).flatMap((component) =>
    (component.plugin.requires?.(component.options) ?? []).map((requirement) => ({ component, requirement })),
  );
}

/** What is missing, told without a network; nothing for servers and programs. */
export function requirementProblem(component: Component, requirement: Requirement, env: Env): HeamsError | undefined {
  if (requirement.kind === 'package' && !isInstalled(requirement)) {
    return notInstalled(requirement).at(component.where([]));
  }
  if (requirement.kind === 'variable' && envVariable(env, requirement.name) === undefined) {
    return new HeamsError(`${requirement.name} is not set`, {
      code: 'missing_variable',
      where: component.where(requirement.path),
      expected: `${requirement.name} in the environment or in a .env file here, for ${requirement.role}`,
      found: 'nothing',
      hint: `set ${requirement.name}`,
    });
  }
  return undefined;
}

/** Checks packages and variables without a network, all at once; whether servers answer is for `heams doctor`. */
export function checkRequirements(run: Parts, env: Env): void {
  const problems = requirementsOf(run).map(({ component, requirement }) =>
    requirementProblem(component, requirement, env),
  );
  throwIfAny(problems.filter((problem) => problem !== undefined));
}
