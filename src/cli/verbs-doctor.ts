import { InvalidArgumentError } from 'commander';
import type { DoctorOptions } from './doctor.ts';
import { json, positiveInteger, positiveNumber, type Verbs } from './options.ts';

/** One scope has nobody to be kept apart from. */
function scopeCount(text: string): number {
  const count = positiveInteger(text);
  if (count < 2) throw new InvalidArgumentError('expected a whole number above 1.');
  return count;
}

/** Verbs that look whether what a run needs is there and does what it promises. */
export function addDoctorVerbs({ add, action, done, io }: Verbs): void {
  const doctor = add('doctor', 'what each arm of a run needs, whether it is there, and whether it answers')
    .argument('[run]', 'the run file')
    .option('--offline', 'skip what leaves this machine or costs money')
    .addOption(json())
    .action(async (run: string | undefined, options: DoctorOptions) =>
      done(await (await import('./doctor.ts')).doctor(run, options, io)),
    );
  add('isolation', 'whether a memory keeps its scopes apart', doctor)
    .requiredOption('--memory <file>', 'a memory file, or its name as in a run file')
    .option('--scopes <n>', 'how many scopes', scopeCount, 64)
    .option('--concurrency <n>', 'how many of them are used at once', positiveInteger, 16)
    .option('--seed <text>', 'draws ids and canaries; another one each time unless told')
    .option('--ready-timeout-s <s>', 'deadline for the memory to become readable after writing', positiveNumber, 60)
    .option('--memory-timeout-s <s>', 'deadline for any other answer of the memory', positiveNumber, 300)
    .option('--max-cost-usd <amount>', 'stop before spending more than this', positiveNumber)
    .addOption(json())
    .action(action(async () => (await import('./doctor-isolation.ts')).doctorIsolation));
}
