import type { Agent } from '../../contracts/agent.ts';
import type { CallContext } from '../../contracts/call.ts';
import type { MemoryBackend } from '../../contracts/memory.ts';
import type { AgentPlugin, DefencePlugin, MemoryPlugin } from '../../contracts/plugin.ts';
import { fillReferences } from '../../lib/env-references.ts';
import { isLoopback } from '../../lib/reach-server.ts';
import { createModelFactory } from '../../models/create-models.ts';
import { resolveModel } from '../../models/providers.ts';
import { redactor } from '../../models/redact.ts';
import { pluginContext } from '../assemble.ts';
import { modelProblems, modelUses } from '../check-models.ts';
import type { Component, Run } from '../run.ts';
import { withHeaderSecrets } from '../secrets.ts';
import { type DoctorCheck, type DoctorPart, type Finding, ok, partsOf, skipped } from './check.ts';
import { type Built, built, type LiveOptions, oneTurn, writeAndRecall } from './live.ts';
import { isLocal, type ModelLook, modelsOf } from './models.ts';
import { type LookOptions, needsOf, secretsOf } from './needs.ts';

/**
 * Looks at everything that a run's arms need and whether it answers: packages, variables, programs, servers, one call of
 * each model, one write and recall of each memory in a throwaway scope, one turn of each agent that names no model.
 * No key and no credential is in what it says.
 */
export async function examine(run: Run, options: LookOptions): Promise<DoctorCheck[]> {
  const examiner = new Examiner(run, options);
  try {
    const parts = partsOf(run);
    const found = await Promise.all(parts.map((part) => examiner.look(part)));
    const redact = redactor(parts.flatMap(({ component }) => examiner.secrets(component)));
    return found.flat().map((check) => ({
      ...check,
      check: redact(check.check),
      detail: redact(check.detail),
      ...(check.next === undefined ? {} : { next: redact(check.next) }),
    }));
  } finally {
    await examiner.close();
  }
}

interface Closable {
  close?(): Promise<void>;
}

class Examiner {
  private readonly run: Run;
  private readonly options: LookOptions;
  private readonly models: ReturnType<typeof createModelFactory>;
  private readonly live: LiveOptions;
  private readonly modelLook: ModelLook;
  private readonly closers: (() => Promise<void>)[] = [];
  private readonly agents = new Map<Component, Promise<Built<Agent>>>();

  constructor(run: Run, options: LookOptions) {
    const { env, clock, random } = options.host;
    this.run = run;
    this.options = options;
    this.models = createModelFactory({ env, clock, random, maxConnections: run.settings.max_connections });
    const scopeId = `heams-doctor-${Math.floor(random() * 2 ** 48).toString(36)}`;
    const meter = { add: () => {} };
    const call: CallContext = { signal: options.signal, meter, stage: 'prime', salt: scopeId, job: scopeId };
    this.live = { ...options, call, settings: run.settings, scopeId };
    this.modelLook = { ...options, models: this.models, call: { ...call, stage: 'agent' }, asked: new Map() };
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.closers, () => this.models.close()].map((close) => close()));
  }

  async look({ part, component, arms }: DoctorPart): Promise<DoctorCheck[]> {
    const needs = [...(await needsOf(component, this.options)), ...(await modelsOf(component, this.modelLook))];
    const lacks = needs.filter(({ state }) => state === 'missing');
    const findings = [...needs, ...(await this.lookLive({ part, component, arms }, lacks))];
    const whole = findings.length > 0 ? findings : [ok('nothing', 'it needs nothing')];
    return whole.map((finding) => ({ part, name: component.name, arms, ...finding }));
  }

  /** All that must not be shown of a component. */
  secrets(component: Component): (string | undefined)[] {
    const { env } = this.options.host;
    const keys = modelUses([component]).flatMap((use) => {
      if (modelProblems(use, env).length > 0) return [];
      const filled = withHeaderSecrets(use.settings, env);
      return [resolveModel(filled, env, use.kind).apiKey, ...Object.values(filled.headers ?? {})];
    });
    return [...secretsOf(component, env), ...keys];
  }

  private async lookLive({ part, component, arms }: DoctorPart, lacks: readonly Finding[]): Promise<Finding[]> {
    // A benchmark is asked nothing but its models, and an agent whose models are not there says nothing more.
    const asked = part === 'agent' && modelUses([component]).length > 0;
    if (part === 'benchmark' || (asked && lacks.length > 0)) return [];
    const check = part === 'memory' ? 'write and recall' : part === 'agent' ? 'one turn' : 'build';
    if (lacks.length > 0) return [skipped(check, `needs ${lacks.map((one) => one.check).join(', ')}`)];
    if (part === 'memory') return this.lookMemory(component as Component<MemoryPlugin>, arms);
    if (part === 'agent') return this.lookAgent(component as Component<AgentPlugin>);
    const defence = component as Component<DefencePlugin>;
    const made = await built(check, this.options, () => this.made(defence, defence.plugin.create.bind(defence.plugin)));
    return ['finding' in made ? made.finding : ok(check, 'built')];
  }

  private async lookAgent(component: Component<AgentPlugin>): Promise<Finding[]> {
    const check = 'one turn';
    const made = await this.agentOf(component);
    if ('finding' in made) return [made.finding];
    const agent = made.made;
    if (agent.replays !== undefined) return [ok(check, 'its replies are recorded')];
    // Its models were asked already.
    if (modelUses([component]).length > 0) return [];
    if (this.options.offline && this.leaves(component, false)) return [skipped(check, '--offline')];
    return [await oneTurn(agent, this.run.benchmark.plugin, this.live)];
  }

  private async lookMemory(component: Component<MemoryPlugin>, arms: readonly string[]): Promise<Finding[]> {
    const check = 'write and recall';
    const { plugin, options } = component;
    if (!plugin.ofAgent) {
      const made = await built(check, this.options, () => this.made(component, plugin.create.bind(plugin)));
      return ['finding' in made ? made.finding : await this.recall(component, made.made)];
    }
    const agents = new Set(this.run.arms.filter(({ name }) => arms.includes(name)).map(({ agent }) => agent));
    return Promise.all(
      [...agents].map(async (of) => {
        const own = `${check} (${of.name})`;
        const agent = await this.agentOf(of);
        if ('finding' in agent) return skipped(own, 'its agent cannot be built');
        const create = () => plugin.create(options, { ...this.contextOf(component), agent: agent.made });
        const made = await built(own, this.options, () => this.kept(create()));
        return 'finding' in made ? made.finding : { ...(await this.recall(of, made.made)), check: own };
      }),
    );
  }

  private async recall(component: Component, memory: MemoryBackend): Promise<Finding> {
    const check = 'write and recall';
    const { needs_network: network, needs_key: key } = memory.capabilities;
    if (this.options.offline && this.leaves(component, network || key)) return skipped(check, '--offline');
    return writeAndRecall(memory, this.live);
  }

  /** Whether using a component leaves the machine: by its servers and models, or as it says where it names none. */
  private leaves(component: Component, otherwise: boolean): boolean {
    const { env } = this.options.host;
    const servers = (component.plugin.requires?.(component.options) ?? []).flatMap((one) =>
      one.kind === 'server' ? [isLoopback(fillReferences(one.url, env))] : [],
    );
    const models = modelUses([component]).map((use) => isLocal(use, this.options));
    const local = [...servers, ...models];
    return local.length === 0 ? otherwise : local.includes(false);
  }

  private agentOf(component: Component<AgentPlugin>): Promise<Built<Agent>> {
    const { plugin } = component;
    const known =
      this.agents.get(component) ??
      built('build', this.options, () => this.made(component, plugin.create.bind(plugin)));
    this.agents.set(component, known);
    return known;
  }

  private contextOf(component: Component) {
    const { models, run } = this;
    return pluginContext({ component, models, host: this.options.host, seed: run.settings.seed });
  }

  private made<T extends Closable>(
    component: Component,
    create: (options: unknown, context: ReturnType<typeof pluginContext>) => Promise<T>,
  ): Promise<T> {
    return this.kept(create(component.options, this.contextOf(component)));
  }

  /** Something that is closed at the end. */
  private async kept<T extends Closable>(making: Promise<T>): Promise<T> {
    const made = await making;
    this.closers.push(async () => made.close?.());
    return made;
  }
}
