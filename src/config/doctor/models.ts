import type { CallContext } from '../../contracts/call.ts';
import { HeamsError, messageOf } from '../../lib/errors.ts';
import { canonicalJson } from '../../lib/hash.ts';
import { isLoopback } from '../../lib/reach-server.ts';
import type { ModelFactory } from '../../models/create-models.ts';
import { resolveModel } from '../../models/providers.ts';
import { modelProblems, modelUses, type UsedModel } from '../check-models.ts';
import type { Component } from '../run.ts';
import { withHeaderSecrets } from '../secrets.ts';
import { type Finding, ok, problem, skipped } from './check.ts';
import type { LookOptions } from './needs.ts';

/** What a model is asked: as little as can be asked. */
const PING = 'ping';
/** The least that every provider takes. */
const MAX_TOKENS = 16;

export interface ModelLook extends LookOptions {
  models: Pick<ModelFactory, 'chat' | 'embedder'>;
  call: CallContext;
  /** By settings: what is shared is asked once. */
  asked: Map<string, Promise<Finding>>;
}

/** Whether every model that a component names has its key and answers. */
export async function modelsOf(component: Component, look: ModelLook): Promise<Finding[]> {
  const uses = modelUses([component]);
  return Promise.all(
    uses.map(async (use) => {
      const check = `model ${use.settings.model_id} (${use.role})`;
      const [wrong] = modelProblems(use, look.host.env);
      if (wrong) {
        const absent = wrong.code === 'missing_api_key' || wrong.code === 'missing_header_variable';
        return problem(check, wrong, absent ? 'missing' : 'failed');
      }
      const key = canonicalJson([use.kind, use.settings]);
      const answer = look.asked.get(key) ?? ask(use, look);
      look.asked.set(key, answer);
      return { ...(await answer), check };
    }),
  );
}

/** Whether a call leaves the machine or costs money. */
export function isLocal({ settings, kind }: Pick<UsedModel, 'settings' | 'kind'>, { host }: LookOptions): boolean {
  const { provider, baseUrl } = resolveModel(withHeaderSecrets(settings, host.env), host.env, kind);
  return provider.free === true || (baseUrl !== undefined && isLoopback(baseUrl));
}

async function ask(use: UsedModel, look: ModelLook): Promise<Finding> {
  const { models, call, offline, host } = look;
  if (offline && !isLocal(use, look)) return skipped('', '--offline');
  const since = host.clock.monotonic();
  const took = () => `${Math.round(host.clock.monotonic() - since)} ms`;
  const settings = withHeaderSecrets(use.settings, host.env);
  try {
    if (use.kind === 'embedding') {
      const [vector] = await (await models.embedder(settings)).embed([PING], call);
      return ok('', `answered in ${took()}: ${vector?.length ?? 0} dimensions`);
    }
    const model = await models.chat(settings);
    const { modelVersion } = await model.generate(
      { messages: [{ role: 'user', content: PING }], maxTokens: MAX_TOKENS },
      call,
    );
    return ok('', `answered in ${took()}${modelVersion === undefined ? '' : ` as ${modelVersion}`}`);
  } catch (error) {
    call.signal.throwIfAborted();
    const known = error instanceof HeamsError ? error : new HeamsError(messageOf(error), { code: 'internal' });
    return problem('', known, 'failed');
  }
}
