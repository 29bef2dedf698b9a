import type { ChatModel, EmbeddingModel } from '../../src/contracts/model.ts';
import type { PluginContext } from '../../src/contracts/plugin.ts';
import { manualClock } from './fake-call.ts';

/** What a plug-in under test is built with: the given models for every id, and nothing from outside. */
export function fakePluginContext(given: { model?: ChatModel; embedder?: EmbeddingModel } = {}): PluginContext {
  const need = <T>(thing: T | undefined, what: string): T => {
    if (thing === undefined) throw new Error(`this test gave the plug-in no ${what}`);
    return thing;
  };
  return {
    model: async () => need(given.model, 'chat model'),
    embedder: async () => need(given.embedder, 'embedding model'),
    clock: manualClock(),
    seed: 0,
    env: {},
    resolve: (path) => path,
    folders: { datasets: '/nonexistent', shipped: '/nonexistent' },
  };
}
