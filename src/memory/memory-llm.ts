import { z } from 'zod';
import type { CallContext } from '../contracts/call.ts';
import type { MemoryCapabilities } from '../contracts/memory.ts';
import type { ChatModel, ChatReply, ChatRequest } from '../contracts/model.ts';
import type { ModelUse, PluginContext } from '../contracts/plugin.ts';
import { HeamsError } from '../lib/errors.ts';
import { modelSettings, modelSettingsShape, outcomeShaping } from '../schema/model-settings.ts';

/** The model that writes what a memory keeps, and how to reach it. */
export const llmSchema = z.strictObject({ model_id: z.string().min(1), ...modelSettingsShape });
export type LlmSettings = z.infer<typeof llmSchema>;

export function llmUse(llm: LlmSettings, role: string): ModelUse {
  return { path: ['llm', 'model_id'], settings: modelSettings(llm.model_id, llm), kind: 'chat', role };
}

/** What of the options can change an outcome, those of the model in `llm` included. */
export function withLlmIdentity<O extends { llm?: LlmSettings | undefined }>({ llm, ...options }: O): unknown {
  return { ...outcomeShaping(options), ...(llm ? { llm: outcomeShaping(llm) } : {}) };
}

export interface OpenLlm {
  model: ChatModel;
  capabilities: Pick<MemoryCapabilities, 'needs_network' | 'needs_key'>;
}

export async function openLlm(llm: LlmSettings, context: PluginContext): Promise<OpenLlm> {
  const model = await context.model(modelSettings(llm.model_id, llm));
  const builtin = llm.model_id.startsWith('builtin:');
  const keyless = builtin || (llm.model_id.startsWith('openai-compatible:') && llm.api_key_env === undefined);
  return { model, capabilities: { needs_network: !builtin, needs_key: !keyless } };
}

/**
 * A reply that is whole. Half of what a memory was to keep, or a refusal in its place, is not a memory.
 *
 * @throws HeamsError `memory_model_cut_off`, `memory_model_refused`
 */
export async function wholeReply(model: ChatModel, request: ChatRequest, call: CallContext): Promise<ChatReply> {
  const reply = await model.generate(request, call);
  if (reply.finishReason === 'cut_off') {
    throw new HeamsError(`${model.id}: what it wrote for the memory ended at the token limit`, {
      code: 'memory_model_cut_off',
      found: `${reply.text.length} characters`,
      hint: 'raise max_tokens under llm in the memory file; a reasoning model needs room for its thoughts as well',
    });
  }
  if (reply.finishReason === 'refused') {
    throw new HeamsError(`${model.id}: the model or its filter declined to write for the memory`, {
      code: 'memory_model_refused',
      hint: 'look at the prompts of the memory file, or take another model',
    });
  }
  return reply;
}
