import { leafText, leaves } from '../../lib/leaves.ts';
import type { GradedItem } from '../../schema/ci-grade.ts';
import type { ItemFlag } from '../../schema/ci-metrics.ts';

/** A value this short is found inside unrelated words: "bus" in "business". */
const SHORT = 3;

/**
 * Flags of the items of one side, in order. `on_both_sides`: the value also stands on the other side. `short`: a part of
 * the value has at most three characters. `in_task`: a part stands in the task itself, so that repeating the task shows
 * it. Case is ignored. Flags rest on the record alone and never change a verdict.
 */
export function flagItems(items: readonly GradedItem[], others: readonly GradedItem[], task: string): ItemFlag[][] {
  const otherTexts = new Set(others.map(({ value }) => leafText(value).toLowerCase()));
  const taskText = task.toLowerCase();
  return items.map(({ value }) => {
    const parts = leaves(value).map((part) => part.toLowerCase());
    const flags: ItemFlag[] = [];
    if (otherTexts.has(parts.join('\n'))) flags.push('on_both_sides');
    if (parts.some((part) => part.length <= SHORT)) flags.push('short');
    if (parts.some((part) => part !== '' && taskText.includes(part))) flags.push('in_task');
    return flags;
  });
}
