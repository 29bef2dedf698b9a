import { type PatternNode, parsePattern } from './linear-pattern-parse.ts';

/** Looks for a pattern anywhere in a text. */
export interface LinearPattern {
  test(text: string): boolean;
}

type Step =
  | { op: 'unit'; accepts(code: number): boolean }
  | { op: 'assert'; holds(before: number | undefined, after: number | undefined): boolean }
  | { op: 'split'; first: number; second: number }
  | { op: 'match' };

/** Steps of a compiled pattern: what one character of a text can cost at most. */
const MAX_STEPS = 500;

/**
 * Compiles a regular expression that can be searched for in linear time, whatever the text: all ways through the pattern
 * are followed at once, so nothing is ever tried again (K. Thompson, "Regular Expression Search Algorithm", CACM 11,
 * 1968). Case does not count; `^` and `$` stand at the ends of lines. Back-references and look-around, which cannot be
 * searched for like this, are errors, and so are patterns of more than 500 steps (a counted repetition counts its parts
 * as often as it repeats them).
 *
 * @throws Error that says what is wrong, and at which character.
 */
export function linearPattern(source: string): LinearPattern {
  const steps: Step[] = [];
  const push = (step: Step): number => {
    if (steps.length >= MAX_STEPS) throw new Error(`a pattern of more than ${MAX_STEPS} steps`);
    return steps.push(step) - 1;
  };
  emit(parsePattern(source), push, steps);
  push({ op: 'match' });
  return { test: (text) => search(steps, text) };
}

type Push = (step: Step) => number;

function emit(node: PatternNode, push: Push, steps: Step[]): void {
  if (node.kind === 'unit') push({ op: 'unit', accepts: node.accepts });
  else if (node.kind === 'assert') push({ op: 'assert', holds: node.holds });
  else if (node.kind === 'all') for (const part of node.parts) emit(part, push, steps);
  else if (node.kind === 'any') emitAny(node.parts, push, steps);
  else emitRepeat(node, push, steps);
}

/** A step that goes on at either of two places, to be filled in. */
function fork(push: Push, steps: Step[]): { first: number; second: number } {
  const at = push({ op: 'split', first: steps.length + 1, second: steps.length + 1 });
  return steps[at] as Extract<Step, { op: 'split' }>;
}

function emitAny(parts: readonly PatternNode[], push: Push, steps: Step[]): void {
  const ends: { first: number; second: number }[] = [];
  for (const [i, part] of parts.entries()) {
    if (i === parts.length - 1) {
      emit(part, push, steps);
      break;
    }
    const choice = fork(push, steps);
    emit(part, push, steps);
    ends.push(fork(push, steps));
    choice.second = steps.length;
  }
  for (const end of ends) {
    end.first = steps.length;
    end.second = steps.length;
  }
}

function emitRepeat(node: Extract<PatternNode, { kind: 'repeat' }>, push: Push, steps: Step[]): void {
  for (let i = 0; i < node.min; i++) emit(node.part, push, steps);
  if (node.max === Number.POSITIVE_INFINITY) {
    const start = steps.length;
    const loop = fork(push, steps);
    emit(node.part, push, steps);
    const back = fork(push, steps);
    back.first = start;
    back.second = start;
    loop.second = steps.length;
    return;
  }
  const exits: { second: number }[] = [];
  for (let i = node.min; i < node.max; i++) {
    exits.push(fork(push, steps));
    emit(node.part, push, steps);
  }
  for (const exit of exits) exit.second = steps.length;
}

/** Follows every way through the steps at once, one character of the text after the other. */
function search(steps: readonly Step[], text: string): boolean {
  const seen = new Int32Array(steps.length).fill(-1);
  let current: number[] = [];
  let before: number | undefined;
  let at = 0;
  for (let place = 0; ; place++) {
    const after = text.codePointAt(at);
    const next: number[] = [];
    // A match may begin anywhere.
    const open = [0, ...current.reverse()];
    while (open.length > 0) {
      const index = open.pop() as number;
      if (seen[index] === place) continue;
      seen[index] = place;
      const step = steps[index] as Step;
      if (step.op === 'match') return true;
      if (step.op === 'split') open.push(step.second, step.first);
      else if (step.op === 'assert') {
        if (step.holds(before, after)) open.push(index + 1);
      } else if (after !== undefined && step.accepts(after)) next.push(index + 1);
    }
    if (after === undefined) return false;
    before = after;
    at += after > 0xffff ? 2 : 1;
    current = next;
  }
}
