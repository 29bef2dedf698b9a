/** A place in a user's file. Lines and columns count from 1. */
export interface Where {
  file: string;
  line?: number;
  column?: number;
}

export interface HeamsErrorOptions {
  /** Stable, machine-readable name: `config_unknown_key`, `hub_unreachable`, ... */
  code: string;
  where?: Where;
  expected?: string;
  found?: string;
  /** What to do next. */
  hint?: string;
  cause?: unknown;
}

/**
 * An error that a user can act on: what, where, expected, found, and what to do next. The CLI prints it without a
 * stack trace; anything else that is thrown is a defect of HEAMS.
 */
export class HeamsError extends Error {
  readonly code: string;
  readonly where: Where | undefined;
  readonly expected: string | undefined;
  readonly found: string | undefined;
  readonly hint: string | undefined;

  constructor(message: string, options: HeamsErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'HeamsError';
    this.code = options.code;
    this.where = options.where;
    this.expected = options.expected;
    this.found = options.found;
    this.hint = options.hint;
  }

  /** The same error at another place. */
  at(where: Where): HeamsError {
    const { code, expected, found, hint } = this;
    return new HeamsError(this.message, { code, where, ...given({ expected, found, hint }), cause: this });
  }

  /** The whole story in plain lines. */
  describe(): string {
    const lines = [`${this.where ? `${formatWhere(this.where)}: ` : ''}${this.message}`];
    if (this.expected !== undefined) lines.push(`  expected: ${this.expected}`);
    if (this.found !== undefined) lines.push(`  found:    ${this.found}`);
    if (this.hint !== undefined) lines.push(`  next:     ${this.hint}`);
    return lines.join('\n');
  }
}

/** The values that are there. */
function given<K extends string>(values: Record<K, string | undefined>): Partial<Record<K, string>> {
  const there = Object.entries(values).filter((entry) => entry[1] !== undefined);
  return Object.fromEntries(there) as Partial<Record<K, string>>;
}

/** Several problems found in one pass, so that a user mends them in one pass. Never nested. */
export class HeamsErrors extends HeamsError {
  readonly errors: readonly HeamsError[];

  constructor(errors: readonly HeamsError[]) {
    const single = errors.flatMap((error) => (error instanceof HeamsErrors ? error.errors : [error]));
    super(`${single.length} problems`, { code: 'several' });
    this.errors = single;
  }

  override describe(): string {
    return this.errors.map((error) => error.describe()).join('\n');
  }
}

/** One error, or all of them as one; nothing when the list is empty. */
export function throwIfAny(errors: readonly HeamsError[]): void {
  const [first, second] = errors;
  if (first && !second) throw first;
  if (first) throw new HeamsErrors(errors);
}

export function formatWhere(where: Where): string {
  if (where.line === undefined) return where.file;
  return `${where.file}:${where.line}:${where.column ?? 1}`;
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
