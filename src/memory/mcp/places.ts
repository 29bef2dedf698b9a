import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { PluginContext } from '../../contracts/plugin.ts';
import { envVariable, fillReferences, referencesIn } from '../../lib/env-references.ts';
import { HeamsError } from '../../lib/errors.ts';
import { minimumEnv } from '../../lib/program-env.ts';
import { redactor } from '../../models/redact.ts';
import { ChildTransport } from './child-transport.ts';
import { Connection } from './connection.ts';
import type { Settings } from './options.ts';
import type { Sdk } from './sdk.ts';
import { renderText } from './structure.ts';

/** A server that a scope has for itself, or shares. */
export interface Place {
  connection: Connection;
  /**
   * Gives it back. `clean`: it was cleared and, asked again, holds nothing; anything else that was a scope's own is ended
   * and its folder removed.
   */
  giveBack(clean: boolean): Promise<void>;
}

/** Where the servers of a backend come from. */
export interface Places {
  take(signal: AbortSignal): Promise<Place>;
  close(): Promise<void>;
}

export interface PlacesOptions {
  settings: Settings;
  context: Pick<PluginContext, 'clock' | 'env' | 'resolve'>;
  sdk: Sdk;
  /** Tools that every server must have. */
  tools: readonly string[];
}

/** A server and what goes with it. */
interface Started {
  connection: Connection;
  end(): Promise<void>;
}
type Start = (signal: AbortSignal) => Promise<Started>;

export function placesOf(options: PlacesOptions): Places {
  const { settings } = options;
  const start = checked(
    settings.url === undefined ? programs(options) : addresses(options, settings.url),
    options.tools,
  );
  return settings.isolation === 'process' ? ownPlaces(start, settings.reuse_processes) : sharedPlace(start);
}

function checked(start: Start, tools: readonly string[]): Start {
  return async (signal) => {
    const started = await start(signal);
    try {
      started.connection.requireTools(tools);
      return started;
    } catch (error) {
      await started.end();
      throw error;
    }
  };
}

/** A server for each scope; with `reuse`, one that is clean takes the next scope. */
function ownPlaces(start: Start, reuse: boolean): Places {
  const open = new Set<Started>();
  const idle: Started[] = [];
  let closed = false;
  const end = async (started: Started) => {
    await started.end();
    open.delete(started);
  };
  const free = async (): Promise<Started | undefined> => {
    for (let started = idle.pop(); started; started = idle.pop()) {
      if (started.connection.alive) return started;
      await end(started);
    }
    return undefined;
  };
  return {
    async take(signal) {
      const started = (await free()) ?? (await start(signal));
      open.add(started);
      let given = false;
      return {
        connection: started.connection,
        async giveBack(clean) {
          if (given) return;
          given = true;
          if (clean && reuse && !closed && started.connection.alive) idle.push(started);
          else await end(started);
        },
      };
    },
    async close() {
      closed = true;
      await Promise.all([...open].map(end));
    },
  };
}

/** One server for all scopes, which are kept apart by an argument. One that is gone is started again. */
function sharedPlace(start: Start): Places {
  let current: Promise<Started> | undefined;
  const all: Started[] = [];
  const fresh = async (signal: AbortSignal) => {
    const started = await start(signal);
    all.push(started);
    return started;
  };
  return {
    async take(signal) {
      for (;;) {
        const tried = current;
        const known = await tried?.catch(() => undefined);
        if (known?.connection.alive) return { connection: known.connection, giveBack: async () => {} };
        // Whoever is the first to see that there is none starts one, and the others wait for it.
        if (current !== tried) continue;
        current = fresh(signal);
        const { connection } = await current;
        return { connection, giveBack: async () => {} };
      }
    },
    async close() {
      await Promise.all(all.map((started) => started.end()));
    },
  };
}

/** A text with its references filled in. */
function filled(text: string, env: PluginContext['env'], what: string): string {
  const missing = referencesIn(text).find((name) => envVariable(env, name) === undefined);
  if (missing === undefined) return fillReferences(text, env);
  throw new HeamsError(`${what} needs ${missing}`, {
    code: 'missing_variable',
    expected: `${missing} in the environment or in a .env file here`,
    found: 'nothing',
    hint: `set ${missing}`,
  });
}

/** The values of the variables that texts refer to: what must never be shown. */
const secretsIn = (texts: readonly string[], env: PluginContext['env']) =>
  texts.flatMap(referencesIn).map((name) => envVariable(env, name));

/** Starts the program, each time in a fresh folder. */
function programs({ settings, context, sdk }: PlacesOptions): Start {
  const { env, clock, resolve } = context;
  const { ownProgram, command, cwd, timeout_s: timeoutS, start_timeout_s: startTimeoutS } = settings;
  const program = ownProgram
    ? {
        command: process.execPath,
        args: [createRequire(import.meta.url).resolve(`${ownProgram.name}/${ownProgram.file}`)],
      }
    : { command: command as string, args: settings.args };
  const redact = redactor(secretsIn([...program.args, ...Object.values(settings.env)], env));
  const told = (text: string, folder: string, what: string) => filled(renderText(text, { folder }), env, what);
  const transportIn = (folder: string) =>
    new ChildTransport({
      command: program.command,
      args: program.args.map((one) => told(one, folder, 'an argument of the MCP server')),
      cwd: resolve(cwd),
      env: {
        ...minimumEnv(env),
        ...Object.fromEntries(
          Object.entries(settings.env).map(([name, value]) => [name, told(value, folder, `the variable ${name}`)]),
        ),
      },
      folder,
      clock,
      readMessage: sdk.deserializeMessage,
      redact,
    });
  return async (signal) => {
    const folder = await mkdtemp(join(tmpdir(), 'heams-mcp-'));
    const removed = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
    try {
      const transport = transportIn(folder);
      const given = { sdk, transport, clock, timeoutS, startTimeoutS, redact };
      const story = () => transport.story();
      const connection = await Connection.open({ ...given, story, kill: () => transport.kill() }, signal);
      return { connection, end: () => connection.end().then(removed) };
    } catch (error) {
      await removed();
      throw error;
    }
  };
}

/** Opens a session with a server that runs elsewhere. */
function addresses({ settings, context, sdk }: PlacesOptions, url: string): Start {
  const { env, clock } = context;
  const { timeout_s: timeoutS, start_timeout_s: startTimeoutS } = settings;
  const headers = Object.fromEntries(
    Object.entries(settings.headers).map(([name, value]) => [name, filled(value, env, `the header "${name}"`)]),
  );
  const redact = redactor(Object.values(headers));
  return async (signal) => {
    const http = new sdk.StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers },
      // What HEAMS sends goes to the configured address; a stream that broke is an error and not waited for.
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 1000,
        maxReconnectionDelay: 1000,
        reconnectionDelayGrowFactor: 1,
      },
    });
    // The SDK's own types do not hold under exactOptionalPropertyTypes.
    const transport = http as unknown as Transport;
    const connection = await Connection.open(
      {
        sdk,
        transport,
        clock,
        timeoutS,
        startTimeoutS,
        redact,
        story: () => 'its address is in url',
        kill: () => void http.close(),
      },
      signal,
    );
    const ended = async () => {
      const timer = new AbortController();
      const late = clock.sleep(END_GRACE_MS, timer.signal).catch(() => {});
      await Promise.race([http.terminateSession().catch(() => {}), late]);
      timer.abort(ENDED);
      await connection.end();
    };
    return { connection, end: ended };
  };
}

/** How long a server may take to end its session. */
const END_GRACE_MS = 1000;
const ENDED = new Error('the session has ended');
