import type { RecallItem } from '../schema/record.ts';

/** Recalled items as a list for a prompt: one `- ` entry each, further lines indented; '' when there are none. */
export function memoriesText(items: readonly RecallItem[]): string {
  return items.map((item) => `- ${item.text.split(/\r\n|\r|\n/).join('\n  ')}`).join('\n');
}
