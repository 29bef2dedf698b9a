import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { messageOf } from '../src/lib/errors.ts';
import { fuzzTargets, randomOf } from '../test/support/fuzz-targets.ts';

/** Shares of the inputs; configs cost most, as each is written out and read again. */
const shares: Readonly<Record<string, number>> = { config: 0.1, row: 0.2, record: 0.3, judge: 0.4 };
const HANG_MS = 2_000;
const MAX_FINDINGS = 20;

interface Batch {
  target: string;
  seed: number;
  from: number;
  to: number;
}
type Report =
  | { kind: 'input'; n: number; text: string }
  | { kind: 'finding'; n: number; text: string; error: string }
  | { kind: 'end'; accepted: number; refused: number };

/** One batch in this process. Each input is announced before it is tried, so that the parent can tell which one hangs. */
async function work({ target, seed, from, to }: Batch): Promise<void> {
  const targets = await fuzzTargets();
  const trial = targets.all[target];
  if (!trial) throw new Error(`there is no target ${target}`);
  const tally = { accepted: 0, refused: 0 };
  const tell = (report: Report) =>
    new Promise<void>((resolve) => process.send?.(report, undefined, undefined, () => resolve()));
  for (let n = from; n < to; n++) {
    let text = '';
    if (n % 50 === 0) await tell({ kind: 'input', n, text });
    const since = performance.now();
    try {
      tally[
        await trial(randomOf(target, seed, n), (given) => {
          text = given;
        })
      ] += 1;
      if (performance.now() - since > HANG_MS) throw new Error(`took ${performance.now() - since} ms`);
    } catch (error) {
      await tell({ kind: 'finding', n, text: text.slice(0, 2_000), error: messageOf(error) });
    }
  }
  await targets.close();
  await tell({ kind: 'end', ...tally });
  process.disconnect();
}

interface Result {
  accepted: number;
  refused: number;
  findings: string[];
}

/** Runs a batch in a process of its own, which is killed when it says nothing for long: a hang cannot stop the rest. */
function inChild(batch: Batch): Promise<Result> {
  return new Promise((resolve) => {
    const result: Result = { accepted: 0, refused: 0, findings: [] };
    const child = fork(fileURLToPath(import.meta.url), [], {
      execArgv: ['--import', 'tsx'],
      env: { ...process.env, HEAMS_FUZZ_BATCH: JSON.stringify(batch) },
    });
    let last = batch.from;
    let ended = false;
    const hang = () => {
      result.findings.push(`${batch.target} seed ${batch.seed}: a hang in the 50 inputs from ${last}`);
      child.kill('SIGKILL');
    };
    let watchdog = setTimeout(hang, 60_000);
    child.on('message', (report: Report) => {
      clearTimeout(watchdog);
      // Fifty inputs, on a machine that may be busy.
      watchdog = setTimeout(hang, 15 * HANG_MS);
      if (report.kind === 'input') last = report.n;
      else if (report.kind === 'end') {
        ended = true;
        Object.assign(result, { accepted: report.accepted, refused: report.refused });
      } else {
        const { n, error, text } = report;
        result.findings.push(
          `${batch.target} seed ${batch.seed} n ${n}: ${error}\n    ${JSON.stringify(text.slice(0, 600))}`,
        );
      }
    });
    child.once('exit', (code, signal) => {
      clearTimeout(watchdog);
      if (!ended && signal !== 'SIGKILL')
        result.findings.push(`${batch.target}: ended with ${code ?? signal} after ${last}`);
      resolve(result);
    });
  });
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { seed: { type: 'string', default: '1' }, count: { type: 'string', default: '100000' } },
  });
  let found = 0;
  for (const [target, share] of Object.entries(shares)) {
    const to = Math.round(Number(values.count) * share);
    const size = 10_000;
    const total: Result = { accepted: 0, refused: 0, findings: [] };
    for (let from = 0; from < to; from += size) {
      const batch = { target, seed: Number(values.seed), from, to: Math.min(to, from + size) };
      const { accepted, refused, findings } = await inChild(batch);
      total.accepted += accepted;
      total.refused += refused;
      total.findings.push(...findings);
    }
    found += total.findings.length;
    process.stdout.write(
      `${target}: ${to} inputs, ${total.accepted} accepted, ${total.refused} refused, ${total.findings.length} findings\n`,
    );
    for (const finding of total.findings.slice(0, MAX_FINDINGS)) process.stdout.write(`  ${finding}\n`);
  }
  process.exitCode = found > 0 ? 1 : 0;
}

const batch = process.env.HEAMS_FUZZ_BATCH;
await (batch === undefined ? main() : work(JSON.parse(batch) as Batch));
