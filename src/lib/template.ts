import { Liquid, type Template as LiquidTemplate } from 'liquidjs';
import { messageOf } from './errors.ts';

/**
 * Liquid with strict variables and filters and no file access. Output is text for a model, so nothing is
 * escaped; `| json` renders JSON.
 */
const engine = new Liquid({
  strictVariables: true,
  strictFilters: true,
  ownPropertyOnly: true,
  cache: false,
  renderLimit: 2000,
  memoryLimit: 50_000_000,
});
// Tags that read other files, by a fixed name or by a variable's, end the parse.
for (const tag of ['include', 'render', 'layout']) {
  engine.registerTag(tag, {
    parse() {
      throw new Error('a template cannot include another file');
    },
    render: () => '',
  });
}

export interface Template {
  render(variables: Readonly<Record<string, unknown>>): string;
}

/** Parsed templates of this process; a prompt is parsed once, however many samples it renders for. */
const parsed = new Map<string, Template>();

/** Parses a template. Throws an `Error` with Liquid's message on bad syntax. */
export function template(source: string): Template {
  const known = parsed.get(source);
  if (known) return known;
  const tokens: LiquidTemplate[] = engine.parse(source);
  const made: Template = { render: (variables) => engine.renderSync(tokens, variables) as string };
  parsed.set(source, made);
  return made;
}

export interface TemplateProblem {
  message: string;
  /** The variable that is not known, where that is the problem. */
  variable?: string;
  /** The tag that is wrong, or its first line, as it stands in the source, where the parser tells. */
  excerpt?: string;
}

/** The first line of the tag that a token of Liquid's stands in. */
function tagAt(token: { input?: string; begin?: number } | undefined): string | undefined {
  if (token?.input === undefined || token.begin === undefined) return undefined;
  const open = Math.max(token.input.lastIndexOf('{{', token.begin), token.input.lastIndexOf('{%', token.begin));
  return open < 0 ? undefined : /^(?:[^\n]*?[%}]\}|[^\n]*)/.exec(token.input.slice(open))?.[0];
}

/** Liquid's message without its position, which counts from the start of the template and not of the file. */
function syntaxProblem(error: unknown): TemplateProblem {
  const message = messageOf(error).split('\n')[0] ?? 'bad template';
  const excerpt = tagAt((error as { token?: { input?: string; begin?: number } }).token);
  return { message: message.replace(/, line:\d+, col:\d+$/, ''), ...(excerpt === undefined ? {} : { excerpt }) };
}

/**
 * What is wrong with a template: bad syntax, an unknown filter, a variable that is not offered, or a required one that
 * is missing. Looks into every branch, also those that a render would not take.
 */
export function checkTemplate(
  source: string,
  allowed: readonly string[],
  required: readonly string[] = [],
): TemplateProblem[] {
  let used: string[];
  try {
    used = [...new Set(engine.globalVariablesSync(source))];
  } catch (error) {
    return [syntaxProblem(error)];
  }
  const problems: TemplateProblem[] = used
    .filter((name) => !allowed.includes(name))
    .map((variable) => ({ message: `unknown template variable "${variable}"`, variable }));
  for (const name of required) {
    if (!used.includes(name)) problems.push({ message: `the template never uses {{ ${name} }}` });
  }
  return problems;
}
