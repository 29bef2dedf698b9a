import { HeamsError, throwIfAny, type Where } from '../lib/errors.ts';
import { checkModel } from '../models/providers.ts';
import { components, type Parts } from './run.ts';
import { missingHeaderVariables, withHeaderSecrets } from './secrets.ts';

type Env = Readonly<Record<string, string | undefined>>;
export type UsedModel = ReturnType<typeof modelUses>[number];

/** Every model that a run names, with where and for what. */
export function modelUses(run: Parts) {
  return components(run).flatMap((component) =>
    (component.plugin.models?.(component.options) ?? []).map((use) => ({
      ...use,
      component,
      where: component.where(use.path),
    })),
  );
}

interface Missing {
  variable: string;
  users: Set<string>;
  where: Where;
  hint: string | undefined;
}

function missingKeyError({ variable, users, where, hint }: Missing): HeamsError {
  return new HeamsError(`${variable} is not set`, {
    code: 'missing_api_key',
    where,
    expected: `${variable} in the environment or in a .env file here, for ${[...users].join(', ')}`,
    found: 'nothing',
    hint:
      `${hint ?? 'set it'}; or try HEAMS without a key: \`heams demo\`; or use a local server: ` +
      'model_id "openai-compatible:<model>" with base_url',
  });
}

/** What is wrong with one model's settings and with what its headers refer to. */
export function modelProblems({ settings, kind, path, component, where }: UsedModel, env: Env): HeamsError[] {
  const missing = missingHeaderVariables(settings, env);
  const filled = missing.length > 0 ? settings : withHeaderSecrets(settings, env);
  const headers = component.where([...path.slice(0, -1), 'headers']);
  return [
    ...checkModel(filled, env, kind).map((error) => error.at(where)),
    ...missing.map((error) => error.at(headers)),
  ];
}

/**
 * Checks every model id, address, key and header of a run, without any network: nothing starts until each is there.
 * A key that several components need is one error that names them all.
 */
export function checkModels(run: Parts, env: Env): void {
  const errors: HeamsError[] = [];
  const missing = new Map<string, Missing>();
  for (const use of modelUses(run)) {
    const user = `${use.role} ${use.component.name} (${use.settings.model_id})`;
    for (const error of modelProblems(use, env)) {
      const { code, expected: variable, hint } = error;
      if (code !== 'missing_api_key' || variable === undefined) {
        errors.push(error);
        continue;
      }
      const known = missing.get(variable);
      if (known) known.users.add(user);
      else missing.set(variable, { variable, users: new Set([user]), where: use.where, hint });
    }
  }
  throwIfAny([...errors, ...[...missing.values()].map(missingKeyError)]);
}
