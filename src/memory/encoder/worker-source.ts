/** Of a longer text the encoder reads this many characters from the beginning, and no more. */
export const READ_CHARACTERS = 4000;

/**
 * The program of the encoder's worker thread, as text.
 *
 * A worker is usually started from a file of its own. Here the same line would have to find that file as TypeScript
 * source (which Node 20 cannot load in a worker) and in a bundle (which moves files). Text has no place that can be
 * wrong: it is plain CommonJS, and it loads its packages from the absolute paths that the parent thread resolved.
 *
 * In: `{ id, text }`. Out: `{ id, vector: Float32Array }` or `{ id, error: string }`.
 *
 * - The encoder reads the first 128 tokens of a text and ignores the rest without a word. A longer text is cut in
 *   halves, at a space where there is one, until every piece is read whole; its vector is the mean of the pieces'.
 *   A piece takes up to 80 ms, so of a very long text only the beginning is read.
 * - One text a call: in a batch the encoder pads to the longest, which is several times slower and changes the last
 *   digits of a text's vector with the company it is in.
 * - A text without a single token (the empty one) has the zero vector.
 * - Sockets are disabled: the package's default would fetch its weights from a remote host.
 * - What it would print is dropped here: a parent that reads a worker's output is kept alive by it.
 */
export const workerSource = `
'use strict';
const { parentPort, workerData } = require('node:worker_threads');
require('node:net').Socket.prototype.connect = () => {
  throw new Error('the encoder works without a network');
};
process.stdout.write = process.stderr.write = () => true;
const { initModel } = require(workerData.embeddings);
const { modelSource } = require(workerData.weights);
const started = initModel(modelSource);
const DIMENSIONS = 512;
const MOST_TOKENS = 128;
// Counting tokens takes time that grows with the square of the length, so a long text is cut before it is counted.
const MOST_CHARACTERS = 2000;
const READ_CHARACTERS = ${READ_CHARACTERS};

function pieces(text, model) {
  const characters = Array.from(text);
  if (characters.length <= MOST_CHARACTERS && model.tokenizer.encode(text).length <= MOST_TOKENS) return [text];
  const middle = Math.floor(characters.length / 2);
  const space = characters.indexOf(' ', middle);
  const cut = space === -1 || space === characters.length - 1 ? middle : space + 1;
  return [characters.slice(0, cut).join(''), characters.slice(cut).join('')].flatMap((half) => pieces(half, model));
}

async function embed(text) {
  const model = await started;
  const mean = new Float32Array(DIMENSIONS);
  const read = Array.from(text).slice(0, READ_CHARACTERS).join('');
  const parts = pieces(read, model).filter((part) => model.tokenizer.encode(part).length > 0);
  for (const part of parts) {
    const [vector] = await model.embed([part]);
    for (let i = 0; i < DIMENSIONS; i++) mean[i] += vector[i] / parts.length;
  }
  return mean;
}

let turn = Promise.resolve();
parentPort.on('message', ({ id, text }) => {
  turn = turn.then(() => embed(text)).then(
    (vector) => parentPort.postMessage({ id, vector }),
    (error) => parentPort.postMessage({ id, error: String(error && error.message) }),
  );
});
`;
