import { ModelError } from '../contracts/model.ts';

/** Bytes of an answer, as they come out of any compression. A chat answer of 16 MiB is some four million tokens. */
export const ANSWER_BYTES = { chat: 16 * 2 ** 20, embedding: 256 * 2 ** 20 } as const;

/**
 * A fetch whose answers end with `bad_response` once they hold more than `limit` bytes. Bytes are counted as they come,
 * so that no more than the limit is ever held, whatever the server says about the length or packs into it.
 */
export function limitedBody(inner: typeof fetch, limit: number, modelId: string): typeof fetch {
  return async (input, init) => {
    const response = await inner(input, init);
    if (response.body === null || within(response.headers, limit)) return response;
    let seen = 0;
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        seen += chunk.byteLength;
        if (seen <= limit) controller.enqueue(chunk);
        else {
          const message = `${modelId}: the server's answer is larger than ${limit / 2 ** 20} MiB`;
          throw new ModelError('bad_response', message, { modelId, status: response.status });
        }
      },
    });
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(counted), { status, statusText, headers });
  };
}

/** An answer of a stated length is never longer than that, unless it is packed: then counting it would be wasted work. */
function within(headers: Headers, limit: number): boolean {
  const length = headers.get('content-length');
  return length !== null && !headers.has('content-encoding') && Number(length) <= limit;
}
