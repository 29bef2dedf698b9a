import type { Cell, Document } from '../../contracts/document.ts';
import { type Block, code, heading, type Inline, list, paragraph, table } from '../../report/document.ts';
import { countText, fractionText, plural } from '../../report/format.ts';
import type { AuditedItem, AuditedRule, CiDataAudit, Shortcut } from '../../schema/ci-data-audit.ts';
import { rateCell } from './report-rates.ts';

const left = (title: string) => ({ title });
const right = (title: string) => ({ title, align: 'right' as const });

/** More would make a page that nobody scrolls through; `audit.json` has them all. */
const MOST_ITEMS = 2000;

export const shortcutNames: Readonly<Record<Shortcut['id'], string>> = {
  majority: 'Always the larger side (baseline)',
  first_half: 'Position alone: the first half',
  position_threshold: 'Position alone: the best threshold',
  key_name: 'Key name alone',
};

/** `57 in 53 rows` */
export function ruleCount(side: AuditedRule['secrets']): string {
  if (!side) return '–';
  return side.items === 0 ? '0' : `${countText(side.items)} in ${plural(side.rows.length, 'row')}`;
}

function rulesTable(caption: string, rules: readonly AuditedRule[]): Block {
  return table(
    caption,
    [left('Rule'), left('The item'), right('Secrets'), right('Fields')],
    rules.map(({ id, definition, secrets, fields }) => [
      { text: code(id) },
      definition,
      ruleCount(secrets),
      ruleCount(fields),
    ]),
  );
}

const rowNumbers = (rows: readonly number[]): string => rows.join(' ');

function rowsSection({ duplicate_seeds: seeds, allowed_first, rows }: CiDataAudit): Block[] {
  const { groups } = seeds;
  return [
    heading(2, 'Rows'),
    list([
      [
        code('duplicate_seed'),
        `: ${plural(groups.length, 'group')} of rows that share their seed, ${plural(seeds.rows, 'row')} in all. They are not independent of each other, so intervals resample whole seeds.`,
      ],
      [
        code('allowed_first'),
        `: ${countText(allowed_first.length)} of ${plural(rows, 'row')} have all allowed facts before the others; a key on both sides counts with the allowed. HEAMS shuffles the facts of every sample, so no memory sees this order.`,
      ],
    ]),
    ...(groups.length === 0
      ? []
      : [
          table(
            'Rows that share a seed',
            [left('Rows')],
            groups.map((group) => [rowNumbers(group)]),
          ),
        ]),
  ];
}

function shortcutsSection({ shortcuts }: CiDataAudit): Block[] {
  return [
    heading(2, 'Shortcuts'),
    paragraph(
      'How often “may this fact be shared?” is answered right without reading a value. What lies above the baseline is in the making of the data: who gets that far shows no understanding of privacy.',
    ),
    table(
      'Allowed or disallowed, told without reading a value',
      [left('Rule'), left('How'), right('Right'), right('Counted')],
      shortcuts.map(({ id, definition, accuracy }) => [
        shortcutNames[id],
        definition,
        rateCell(accuracy),
        fractionText(accuracy),
      ]),
    ),
    paragraph(
      'Facts of a row, and rows of a seed, are not independent of each other, so these intervals (Wilson) are somewhat too narrow.',
    ),
  ];
}

function itemRow({ row, sample_id, side, key, excerpt, flags, notes }: AuditedItem): (Cell | string)[] {
  const rules = [...flags, ...notes].flatMap((id, i): Inline[] => (i === 0 ? [code(id)] : [', ', code(id)]));
  return [String(row), { text: code(sample_id) }, side, { text: code(key) }, { text: code(excerpt) }, { text: rules }];
}

function itemsSection({ items, flagged }: CiDataAudit): Block[] {
  const withFlags = items.filter(({ flags }) => flags.length > 0);
  if (withFlags.length === 0) return [heading(2, 'Flagged items'), paragraph('None.')];
  const shown = withFlags.slice(0, MOST_ITEMS);
  const cut = withFlags.length - shown.length;
  return [
    heading(2, 'Flagged items'),
    paragraph(
      `${plural(flagged.secrets, 'secret')} and ${plural(flagged.fields, 'field')} in ${plural(flagged.rows, 'row')}.`,
      ...(cut > 0 ? [` The first ${countText(MOST_ITEMS)} are listed; `, code('audit.json'), ' has them all.'] : []),
    ),
    table(
      'Flagged items, in the order of the rows',
      [right('Row'), left('Sample'), left('Side'), left('Key'), left('Value'), left('Rules')],
      shown.map(itemRow),
    ),
  ];
}

/** The audit as `audit.md` shows it. */
export function auditDocument(audit: CiDataAudit): Document {
  const { rows, secrets, fields, source, rules } = audit;
  const known = Object.entries(source).flatMap(([name, value]): Inline[][] =>
    typeof value === 'string' || typeof value === 'number' ? [[`${name}: `, code(String(value))]] : [],
  );
  return {
    title: 'Data audit',
    subtitle: `${plural(rows, 'row')}, ${plural(secrets, 'secret')}, ${plural(fields, 'field')}`,
    blocks: [
      ...(known.length > 0 ? [list(known)] : []),
      heading(2, 'Items'),
      rulesTable(
        'Flags: such an item is left out of the unflagged metrics',
        rules.filter(({ effect }) => effect === 'flag'),
      ),
      rulesTable(
        'Notes: such an item counts like any other',
        rules.filter(({ effect }) => effect === 'note'),
      ),
      ...rowsSection(audit),
      ...shortcutsSection(audit),
      ...itemsSection(audit),
    ],
  };
}
