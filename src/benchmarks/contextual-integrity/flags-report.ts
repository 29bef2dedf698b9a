import { type Block, code, table } from '../../report/document.ts';
import { countText } from '../../report/format.ts';
import type { FlagCounts } from '../../schema/ci-metrics.ts';
import { flagRules } from './flags.ts';

export const LEFT_OUT_BY_FLAG =
  'Left out are values whose verdict tells little about the agent: equal to a value of the other side, in the task, in another fact that may be shared, three characters or fewer, a label, not word for word in their fact, a placeholder, or annotated on both sides.';

/** How many items each rule flags. Rules that flag none are left out. */
export function flagTable({ secrets, fields }: Readonly<Record<'secrets' | 'fields', FlagCounts>>): Block {
  const seen = flagRules.filter(({ id }) => secrets.by_flag[id] + fields.by_flag[id] > 0);
  const right = (title: string) => ({ title, align: 'right' as const });
  return table(
    'Flagged items; an item may have several flags',
    [{ title: 'Flag' }, { title: 'Rule' }, right('Secrets'), right('Fields')],
    [
      ['any', '', countText(secrets.any), countText(fields.any)],
      ...seen.map(({ id, sides, definition }) => [
        { text: code(id) },
        definition,
        sides.includes('secret') ? countText(secrets.by_flag[id]) : '–',
        sides.includes('field') ? countText(fields.by_flag[id]) : '–',
      ]),
    ],
  );
}
