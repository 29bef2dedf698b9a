// A program that speaks the agent protocol over stdin and stdout, and does what the last turn of a request says.
import { spawn } from 'node:child_process';
import { appendFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

const token = process.env.HEAMS_FRAME;
const [, , atStart] = process.argv;
const told = new Map();
const frame = (reply) => `${token} ${JSON.stringify(reply)}\n`;
/** All of it, whatever the pipe takes at once. */
function print(text) {
  let bytes = Buffer.from(text);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(1, bytes));
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

if (atStart === 'die') {
  process.stderr.write(`cannot start with key ${process.env.AGENT_KEY}\n`);
  process.exit(3);
}
if (atStart === 'deaf') setInterval(() => {}, 1000);

const chatter = {
  lines: 'loading...\n\nready\n',
  json: '{"id":"1","message":"I am no reply"}\n[1, 2]\n',
  'half line': 'Progress: 50%',
  token: `HEAMS_FRAME=${token}\n'${token}', ${token}\n`,
  'half token': token.slice(0, 20),
  megabyte: `${'x'.repeat(1024 * 1024)}\n`,
  binary: Buffer.from([0, 255, 254, 10, 13, 128, 7]),
  'carriage returns': 'a\rb\r\nc\r',
};

const behaviours = {
  dies: () => process.exit(7),
  'is killed': () => process.kill(process.pid, 'SIGKILL'),
  hangs: () => process.stderr.write('thinking\n'),
  'forgets the end of its frame': ({ id }) => print(frame({ id, message: 'x' }).trimEnd()),
  'answers another id': () => print(frame({ id: 'other', message: 'not yours' })),
  'answers without an id': () => print(frame({ message: 'whose?' })),
  'answers with a number': ({ id }) => print(frame({ id, message: 5 })),
  'answers an unknown key': ({ id }) => print(frame({ id, message: 'x', mesage: 'y' })),
  'answers a list': () => print(`${token} [1]\n`),
  'answers broken JSON': ({ id }) => print(`${token} {"id": "${id}", "message": "\u001b[31mhalf\n`),
  'answers two frames in one line': ({ id }) =>
    print(frame({ id, message: 'a' }).trimEnd() + frame({ id, message: 'b' })),
  'answers bad UTF-8': ({ id }) =>
    print(
      Buffer.concat([
        Buffer.from(`${token} {"id": "${id}", "message": "`),
        Buffer.from([0xff, 0xfe]),
        Buffer.from('"}\n'),
      ]),
    ),
  'answers too much': ({ id }) => print(frame({ id, message: 'x'.repeat(9 * 1024 * 1024) })),
  'answers 5 megabytes': ({ id }) => print(frame({ id, message: 'x'.repeat(5 * 1024 * 1024) })),
  'says the key': ({ id }) => print(`${token} {"id": "${id}", ${process.env.AGENT_KEY}\n`),
  'answers twice': ({ id }) => print(frame({ id, message: 'first' }) + frame({ id, message: 'second' })),
  'answers and ends': ({ id }) => {
    print(frame({ id, message: 'last words' }));
    process.exit(0);
  },
  'shows its environment': ({ id }) => print(frame({ id, message: Object.keys(process.env).sort().join(' ') })),
  'starts another': ({ id }) => {
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    print(frame({ id, message: String(other.pid) }));
  },
  'says who it is': ({ id }) => print(frame({ id, message: String(process.pid) })),
  'answers late': ({ id }) => setTimeout(() => print(frame({ id, message: 'late' })), 150),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const request = JSON.parse(line);
  const { id, type, scope, turns, memories = [], tools, steps = [] } = request;
  if (process.env.AGENT_LOG) appendFileSync(process.env.AGENT_LOG, `${line}\n`);
  if (atStart === 'deaf') return;
  if (type === 'forget') {
    told.delete(scope);
    return print(frame({ id, forgotten: true }));
  }
  const asked = turns.at(-1).content;
  if (type === 'tell') {
    if (behaviours[asked]) return behaviours[asked](request);
    told.set(scope, [...(told.get(scope) ?? []), asked]);
    return print(frame({ id, told: true }));
  }
  if (behaviours[asked]) return behaviours[asked](request);
  if (chatter[asked]) {
    print(chatter[asked]);
    print(frame({ id, message: 'heard' }));
    return print(chatter[asked]);
  }
  if (tools && steps.length === 0) {
    return print(frame({ id, tool_calls: [{ id: 't1', name: tools[0].name, input: { query: asked } }] }));
  }
  const found = steps.flatMap(({ results }) => results.map(({ content }) => content));
  print(frame({ id, message: [...memories, ...found, ...(told.get(scope) ?? [])].join('\n') }));
});
