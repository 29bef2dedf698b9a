import type { Worker } from 'node:worker_threads';
import type { EmbeddingModel } from '../../contracts/model.ts';
import { abortable } from '../../lib/abortable.ts';
import { sha256 } from '../../lib/hash.ts';
import { LruMap } from './lru.ts';
import { EncoderThread, encoderError, startEncoderWorker } from './thread.ts';

/** The model behind it, Universal Sentence Encoder Lite (Cer et al., 2018, arXiv:1803.11175), and its dimensions. */
export const BUILTIN_ENCODER = 'builtin:use-lite-512';

/** 2 kB a vector: 32 MB when full, which holds every fact of a large benchmark for the arms that come later. */
const CACHED_TEXTS = 16_384;

export interface Encoder extends EmbeddingModel {
  close(): Promise<void>;
}

/**
 * The sentence encoder that comes with HEAMS: English, 512 dimensions, no network. It runs in a worker thread, which
 * starts with the first text. What it does not know, other scripts above all, it sees as one unknown token. Of a text
 * beyond 4,000 characters it reads the beginning.
 *
 * A text is encoded once, however many arms ask for it. Vectors are shared: callers do not write to them.
 */
export function createEncoder(start: () => Worker = startEncoderWorker, cachedTexts: number = CACHED_TEXTS): Encoder {
  const known = new LruMap<string, Promise<Float32Array>>(cachedTexts);
  let thread: EncoderThread | undefined;
  let closed = false;

  function vectorOf(text: string): Promise<Float32Array> {
    // By hash, so that the size of the cache does not depend on the size of the texts.
    const key = sha256(text);
    const cached = known.get(key);
    if (cached) return cached;
    if (!thread?.alive) thread = new EncoderThread(start);
    const asked = thread.ask(text);
    known.set(key, asked);
    // A failure is told to whoever asked, and not remembered.
    asked.catch(() => known.delete(key));
    return asked;
  }

  return {
    id: BUILTIN_ENCODER,
    async embed(texts, call) {
      call.signal.throwIfAborted();
      if (closed) throw encoderError('it was closed');
      return abortable(Promise.all(texts.map(vectorOf)), call.signal);
    },
    async close() {
      closed = true;
      known.clear();
      await thread?.stop();
    },
  };
}
