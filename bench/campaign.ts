import { join } from 'node:path';
import { executeRun } from '../src/config/execute-run.ts';
import { loadRun } from '../src/config/load-run.ts';
import { builtinRegistry } from '../src/config/registry.ts';
import { judgedRunFiles } from '../test/support/judged-run.ts';
import { spawnLoopback } from '../test/support/loopback-chat.ts';
import { makeProject, readJsonLines, testHost } from '../test/support/project.ts';
import { sharedData } from '../test/support/shared-data.ts';

export interface CampaignResult {
  rows: number;
  calls: number;
  connections: number;
  latency_ms: number;
  wall_s: number;
  floor_s: number;
  wall_over_floor: number;
  records: number;
  cpu_ms_per_call: number;
}

/**
 * Campaign efficiency: one agent call a sample and one judge call a value against a chat-completions server in another
 * process. The floor is what any client needs: calls x latency / connections.
 */
export async function campaign({
  latencyMs,
  connections,
}: {
  latencyMs: number;
  connections: number;
}): Promise<CampaignResult> {
  if (!sharedData) throw new Error('this benchmark needs the real rows beside the repository');
  const server = await spawnLoopback({ latencyMs });
  const parquet =
    'hub/datasets/huseyinatahaninan/ContextualIntegritySyntheticDataset/data/train-00000-of-00001.parquet';
  const files = await judgedRunFiles({
    baseUrl: server.baseUrl,
    dataset: { file: join(sharedData, parquet) },
    concurrency: connections,
    maxConnections: connections,
  });
  const project = await makeProject(files);
  try {
    const run = await loadRun(project.path('configs/runs/judged.yaml'), builtinRegistry);
    const never = new AbortController().signal;
    const cpu = process.cpuUsage();
    let startedAt = 0;
    const outcome = await executeRun({
      run,
      host: testHost(project.dir),
      outputDir: project.path('results'),
      stop: never,
      signal: never,
      onPlan: () => {
        startedAt = performance.now();
      },
    });
    const wall = (performance.now() - startedAt) / 1000;
    const used = process.cpuUsage(cpu);
    const { requests } = await server.stats();
    const records = await readJsonLines(project.path('results/arm/runs.jsonl'));
    if (outcome.failed > 0) throw new Error(`${outcome.failed} samples failed`);
    const floor = (requests * latencyMs) / 1000 / connections;
    return {
      rows: outcome.planned,
      calls: requests,
      connections,
      latency_ms: latencyMs,
      wall_s: wall,
      floor_s: floor,
      wall_over_floor: wall / floor,
      records: records.length,
      cpu_ms_per_call: (used.user + used.system) / 1000 / requests,
    };
  } finally {
    await server.close();
    await project.remove();
  }
}
