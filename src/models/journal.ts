import { appendFileSync, mkdirSync } from 'node:fs';
import { readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import type { CallContext } from '../contracts/call.ts';
import type { ChatReply, ChatRequest } from '../contracts/model.ts';
import { addCounts } from '../lib/add-counts.ts';
import { hashOf } from '../lib/hash.ts';
import { chatReplySchema } from '../schema/chat-reply.ts';
import { emptyStageUsage, type StageUsage, stageUsageSchema } from '../schema/usage.ts';
import { askedOf, type ModelCall } from './model-call.ts';

const entrySchema = z.strictObject({
  call: z.string(),
  spent: stageUsageSchema.partial(),
  reply: chatReplySchema,
});
type Entry = z.infer<typeof entrySchema>;

/** Replies of jobs that are under way, by job. A job's file lives from its first reply until its record is stored. */
export interface Journal {
  wrap(inner: ModelCall<ChatRequest, ChatReply>, identity: unknown): ModelCall<ChatRequest, ChatReply>;
  /** What the calls of unfinished jobs have cost that `recorded` does not name. */
  spentOnOthers(recorded: ReadonlySet<string>): Promise<StageUsage>;
  /** The job's record is stored: its replies are not needed any more. */
  forget(job: string): Promise<void>;
  /** Removes the folder: when the run is complete with whatever a crash left in it, else if it is empty. */
  close(complete: boolean): Promise<void>;
}

async function read(file: string): Promise<Map<string, Entry[]>> {
  const entries = new Map<string, Entry[]>();
  const text = await readFile(file, 'utf8').catch(() => '');
  for (const line of text.split('\n')) {
    const entry = parseEntry(line);
    if (!entry) continue;
    const same = entries.get(entry.call) ?? [];
    same.push(entry);
    entries.set(entry.call, same);
  }
  return entries;
}

/** A line that a crash tore, or that is not ours, is a call that is made again. */
function parseEntry(line: string): Entry | undefined {
  try {
    const parsed = entrySchema.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** Adds up what one call spends while it passes it on, so that it can be told again. */
function recording(call: CallContext, spent: StageUsage): CallContext {
  return {
    ...call,
    meter: {
      add: (stage, more) => {
        addCounts(spent, more);
        call.meter.add(stage, more);
      },
    },
  };
}

/**
 * Keeps the replies of unfinished jobs beside the run, so that a run that was killed pays again for the calls in flight
 * alone. A reply that is found again counts with what it first cost: it is the same run that paid for it. Replies
 * belong to one job; no arm, sample or repeat ever sees another's.
 */
export function createJournal(dir: string): Journal {
  const jobs = new Map<string, Promise<Map<string, Entry[]>>>();
  const fileOf = (job: string) => join(dir, `${job}.jsonl`);
  let made = false;

  const entriesOf = (job: string) => {
    const known = jobs.get(job) ?? read(fileOf(job));
    jobs.set(job, known);
    return known;
  };

  /**
   * A reply that cannot be kept is still a reply: all that is lost is that a killed run would pay for it again. The
   * newline in front sets it apart from a line that a crash tore.
   */
  const keep = (job: string, entry: Entry) => {
    try {
      if (!made) mkdirSync(dir, { recursive: true });
      made = true;
      // At once, not in the background: the reply is kept before the call that takes its place is sent.
      appendFileSync(fileOf(job), `\n${JSON.stringify(entry)}\n`);
    } catch {
      // A full disk also stops the records, and that is told.
    }
  };

  return {
    wrap: (inner, identity) => async (request, call) => {
      const key = hashOf({ identity, request: askedOf(request) });
      const earlier = (await entriesOf(call.job)).get(key)?.shift();
      if (earlier) {
        call.meter.add(call.stage, earlier.spent as Partial<StageUsage>);
        return earlier.reply as ChatReply;
      }
      const spent = emptyStageUsage();
      const reply = await inner(request, recording(call, spent));
      keep(call.job, { call: key, spent, reply });
      return reply;
    },
    spentOnOthers: async (recorded) => {
      const spent = emptyStageUsage();
      const files = await readdir(dir).catch(() => []);
      for (const job of files.map((name) => basename(name, '.jsonl')).filter((name) => !recorded.has(name))) {
        for (const entry of [...(await read(fileOf(job))).values()].flat()) {
          addCounts(spent, entry.spent as Partial<StageUsage>);
        }
      }
      return spent;
    },
    forget: async (job) => {
      if (!jobs.delete(job)) return;
      await rm(fileOf(job), { force: true });
    },
    close: async (complete) => {
      if (complete) await rm(dir, { recursive: true, force: true });
      else await rmdir(dir).catch(() => undefined);
    },
  };
}
