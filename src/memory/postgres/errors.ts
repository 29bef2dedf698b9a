import { HeamsError } from '../../lib/errors.ts';

interface Story {
  code: string;
  what: string;
  hint: string;
}

const unreachable: Story = {
  code: 'memory_unreachable',
  what: 'the PostgreSQL server cannot be reached, or the connection was lost',
  hint: 'look whether the server runs and takes connections at this address',
};

/** By SQLSTATE, or its first two characters (PostgreSQL's manual, appendix A), or by the code of Node's network. */
const stories: Readonly<Record<string, Story>> = {
  '28': {
    code: 'memory_auth_failed',
    what: 'PostgreSQL refused the user or the password',
    hint: 'look at the user in the address, and at the variable that holds the password',
  },
  '3D000': {
    code: 'memory_database_missing',
    what: 'the PostgreSQL server has no such database',
    hint: 'make the database with createdb, or name another one in the address',
  },
  '42501': {
    code: 'memory_permission',
    what: 'the PostgreSQL user may not do what a memory needs',
    hint: 'grant CREATE on the schema, or let an administrator make the table and grant its use',
  },
  '53300': {
    code: 'memory_unreachable',
    what: 'the PostgreSQL server has no connection left',
    hint: 'lower pool_size, or raise max_connections of the server',
  },
  '08': unreachable,
  '57P': unreachable,
  ECONNREFUSED: unreachable,
  ECONNRESET: unreachable,
  ENOTFOUND: unreachable,
  EAI_AGAIN: unreachable,
  ENOENT: unreachable,
  EPIPE: unreachable,
  ETIMEDOUT: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
};

const storyOf = (code: string): Story | undefined =>
  stories[code] ?? stories[code.slice(0, 3)] ?? stories[code.slice(0, 2)];

/** What the client says of its own accord comes without a code. */
function storyByMessage(message: string): Story | undefined {
  if (/^SASL:/.test(message)) return stories['28'];
  if (/connection terminated|timeout exceeded|client has encountered a connection error/i.test(message)) {
    return unreachable;
  }
  return undefined;
}

/**
 * An error of the database as one that can be acted on. What the server says of a user or an address is left out, as
 * is the error itself: a client may have put its whole configuration into one.
 *
 * @param at The address as it may be shown.
 */
export function postgresError(error: unknown, at: string): HeamsError {
  if (error instanceof HeamsError) return error;
  const { code: given, message: said } = (error ?? {}) as { code?: unknown; message?: unknown };
  const code = typeof given === 'string' ? given : '';
  const message = typeof said === 'string' ? said : String(error);
  const story = storyOf(code) ?? storyByMessage(message);
  if (story) {
    return new HeamsError(`${story.what}: ${at}`, {
      code: story.code,
      ...(code === '' ? {} : { found: code }),
      hint: story.hint,
    });
  }
  return new HeamsError(`PostgreSQL could not do what was asked: ${message}`, {
    code: 'memory_database_error',
    ...(code === '' ? {} : { found: `SQLSTATE ${code}` }),
  });
}
