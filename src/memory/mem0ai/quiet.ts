import { devNull } from 'node:os';

/**
 * Keeps mem0 to itself. It reads these from the process's environment and takes them in no other way: MEM0_TELEMETRY
 * when it is imported, so this must run first, or it tells two hosts of every call; and MEM0_DIR at every call, where it
 * writes an id of the installation, in the home folder unless told otherwise. Nothing can be written below the null
 * device, and mem0 does without.
 */
export function keepMem0Quiet(): void {
  process.env.MEM0_TELEMETRY = 'false';
  process.env.MEM0_DIR = devNull;
}
