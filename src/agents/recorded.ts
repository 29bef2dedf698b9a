import { z } from 'zod';
import type { Agent } from '../contracts/agent.ts';
import type { AgentPlugin } from '../contracts/plugin.ts';
import { HeamsError } from '../lib/errors.ts';
import { namingShape } from '../schema/naming.ts';
import type { Recall, Reply, SampleRecord } from '../schema/record.ts';
import type { ResponseLine } from '../schema/response-line.ts';
import { RecordIndex } from '../store/record-index.ts';
import { openResponses } from '../store/response-file.ts';

const common = { ...namingShape, kind: z.literal('recorded') };

const schema = z.union(
  [
    z.strictObject({
      ...common,
      /** A file of messages that any system wrote, one a line. */
      responses: z.string().min(1),
      /** Refuse any other content. */
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/, '64 hex digits')
        .optional(),
      /** Take the lines of this experiment alone; without it, the lines that name none. */
      experiment: z.string().min(1).optional(),
    }),
    z.strictObject({
      ...common,
      /** One arm of an earlier run; `heams grade` writes this. */
      run: z.strictObject({ records: z.string().min(1), run_id: z.string().min(1), agent_kind: z.string().min(1) }),
    }),
  ],
  { error: 'either responses (a file of messages) or run (an arm that was recorded)' },
);
export type RecordedOptions = z.infer<typeof schema>;

/** Says what was said before: the messages of another system, or those of an earlier run. No model is asked. */
export const recorded: AgentPlugin<RecordedOptions> = {
  name: 'recorded',
  summary: 'gives recorded messages: those of any other system from a file, or those of an earlier run',
  needs: 'a file of messages',
  schema,
  identity: (options) =>
    'run' in options
      ? { run_id: options.run.run_id }
      : { responses: options.sha256 ?? options.responses, experiment: options.experiment ?? null },
  inlined: (options, resolve) =>
    'run' in options
      ? { ...options, run: { ...options.run, records: resolve(options.run.records) } }
      : { ...options, responses: resolve(options.responses) },
  create: (options, context) =>
    'run' in options
      ? fromRun(options.name, { ...options.run, records: context.resolve(options.run.records) })
      : fromResponses(options, context.resolve(options.responses)),
};

async function fromResponses(options: Extract<RecordedOptions, { responses: string }>, path: string): Promise<Agent> {
  const { name = 'recorded', experiment, sha256 } = options;
  const file = await openResponses(path, new AbortController().signal);
  if (sha256 !== undefined && sha256 !== file.sha256) throw otherContent(path, sha256, file.sha256);
  return {
    name,
    seesLabels: false,
    async respond(task, _memory, call) {
      call.signal.throwIfAborted();
      const line = await file.get(call.salt, experiment);
      if (line) return externalReply(line, task.query);
      throw new HeamsError('the responses file has no message for this sample and repeat', {
        code: 'response_missing',
        where: { file: path },
      });
    },
  };
}

function otherContent(file: string, expected: string, found: string): HeamsError {
  return new HeamsError('the responses file has another content', {
    code: 'responses_wrong_hash',
    where: { file },
    expected: `sha256 ${expected}`,
    found: `sha256 ${found}`,
  });
}

function externalReply({ message, recall }: ResponseLine, query: string): Reply {
  const items = (recall ?? []).map((item) => (typeof item === 'string' ? { text: item } : item));
  const recalls: Recall[] =
    recall === undefined ? [] : [{ query, items: items.map(({ text, fact_ids = [] }) => ({ text, fact_ids })) }];
  return {
    message,
    prompt: [],
    recalls,
    tool_calls: [],
    warnings: [],
    external: { recalls_known: recall !== undefined },
  };
}

interface RecordedArm {
  records: string;
  agent_kind: string;
}

async function fromRun(name: string | undefined, { records, agent_kind }: RecordedArm): Promise<Agent> {
  const index = await RecordIndex.open(records);
  return {
    name: name ?? 'recorded',
    seesLabels: false,
    replays: agent_kind,
    async respond(_task, _memory, call) {
      call.signal.throwIfAborted();
      return replyOf(await index.get(call.salt), records);
    },
    async recordedGrade(call) {
      const record = await index.get(call.salt);
      return record?.status === 'done' ? record.grade : undefined;
    },
  };
}

/** The reply of a record. A sample that failed after it was answered has one too, and can be graded now. */
function replyOf(record: SampleRecord | undefined, file: string): Reply {
  if (record?.reply) return record.reply;
  if (record?.status === 'failed') {
    const { stage, code, message } = record.error;
    throw new HeamsError(`the sample failed in the graded run, at the stage ${stage}: ${code}: ${message}`, {
      code: 'recorded_failure',
      where: { file },
    });
  }
  throw new HeamsError('the graded run has no message for this sample and repeat', {
    code: 'recorded_missing',
    where: { file },
  });
}
