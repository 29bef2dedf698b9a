import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../src/lib/shipped.ts';
import { KEY, systems } from './hosted-systems.ts';
import { type LoopbackAgent, loopbackAgent } from './loopback-agent.ts';
import { type Loopback, startLoopback } from './loopback-chat.ts';
import { ruleAnswer } from './loopback-judge.ts';
import { startLoopbackMemory } from './loopback-memory.ts';
import { startPglite } from './pglite.ts';

type Config = Record<string, unknown>;

/** What a config of this machine's own servers needs to know. */
export interface LoopbackServers {
  models: Loopback;
  agent: LoopbackAgent;
  memoryUrl: string;
  /** By name of the backend. */
  hosted: Record<string, string>;
  /** Variables that the configs name. */
  env: Record<string, string>;
  close(): Promise<void>;
}

/** A double on loopback for every server that a shipped config could name. */
export async function startServers(): Promise<LoopbackServers> {
  const models = await startLoopback({ answer: ruleAnswer });
  const agent = await loopbackAgent(({ request }) => {
    if (request.type === 'tell') return { told: true, message: 'Noted.' };
    return request.type === 'forget' ? { forgotten: true } : { message: 'Hello.' };
  });
  const memory = await startLoopbackMemory();
  const services = await Promise.all(
    systems.map(async ({ plugin, start }) => ({ name: plugin.name, service: await start({ apiKey: KEY }) })),
  );
  const database = await startPglite();
  return {
    models,
    agent,
    memoryUrl: memory.url,
    hosted: Object.fromEntries(services.map(({ name, service }) => [name, service.url])),
    env: {
      DATABASE_URL: database.url,
      ...Object.fromEntries(systems.map(({ variable }) => [variable, KEY])),
    },
    close: async () => {
      const all = [models, agent, memory, ...services.map(({ service }) => service)];
      await Promise.all([...all.map((one) => one.close()), database.stop()]);
    },
  };
}

export interface ShippedConfig {
  folder: 'agents' | 'memory' | 'defences';
  name: string;
  /** Name of the plug-in. */
  plugin: string;
  config: Config;
}

/** Every config of these folders that HEAMS ships, as it is. */
export function shippedConfigs(): ShippedConfig[] {
  return (['agents', 'memory', 'defences'] as const).flatMap((folder) => {
    const dir = join(packageRoot(), 'configs', folder);
    return readdirSync(dir)
      .filter((file) => file.endsWith('.yaml'))
      .map((file) => {
        const config = parse(readFileSync(join(dir, file), 'utf8')) as Config;
        const plugin = String(config.backend ?? config.defence ?? config.kind ?? 'llm');
        return { folder, name: file.replace(/\.yaml$/, ''), plugin, config };
      });
  });
}

/** A config with every model on loopback. */
function withModels(value: unknown, baseUrl: string): unknown {
  if (Array.isArray(value)) return value.map((one) => withModels(one, baseUrl));
  if (value === null || typeof value !== 'object') return value;
  const inner = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withModels(one, baseUrl)]));
  const { api_key_env: _key, ...rest } = inner;
  return 'model_id' in inner ? { ...rest, model_id: 'openai-compatible:loopback', base_url: baseUrl } : inner;
}

/** Whether a config asks a model that is not in the process. */
export const asksModel = ({ config }: ShippedConfig): boolean => JSON.stringify(config).includes('"model_id"');

/** A shipped config whose servers are this machine's. */
export function onLoopback({ plugin, config }: ShippedConfig, servers: LoopbackServers): Config {
  const own = withModels(config, servers.models.baseUrl) as Config;
  if (plugin === 'command') return { ...own, cwd: packageRoot() };
  if ('url_env' in own) return { ...own, pool_size: 1 };
  if (own.kind === 'http') return { ...own, url: servers.agent.url };
  if (own.backend === 'http') return { ...own, url: servers.memoryUrl };
  const hosted = servers.hosted[plugin];
  return hosted === undefined ? own : { ...own, base_url: hosted };
}
