import { VERSION } from '../../lib/version.ts';
import type { AuditedItem, AuditedRule, CiDataAudit } from '../../schema/ci-data-audit.ts';
import type { Side } from '../../schema/ci-grade.ts';
import type { CiRow } from '../../schema/contextual-integrity.ts';
import type { Json } from '../../schema/json.ts';
import { type LabelledFact, shortcutsOf } from './audit-data-shortcuts.ts';
import { excerptOf, flagItems, flagRules, type ItemRule, noteItems, noteRules } from './flags.ts';
import type { CiSample } from './sample.ts';

type AnyRule = Pick<AuditedRule, 'definition' | 'effect' | 'id'> & Pick<ItemRule, 'sides'>;

const rules: readonly AnyRule[] = [
  ...flagRules.map((rule) => ({ ...rule, effect: 'flag' as const })),
  ...noteRules.map((rule) => ({ ...rule, effect: 'note' as const })),
];

/** The annotated facts of a row, in the file's order. A key on both sides counts with the allowed. */
function labelsInOrder({ information, annotation }: CiRow['dataset_item']) {
  const { allowed, disallowed } = annotation;
  return Object.keys(information).map((key) => ({
    key,
    allowed: Object.hasOwn(allowed, key),
    disallowed: Object.hasOwn(disallowed, key),
  }));
}

/** Whether a row has disallowed facts, and all allowed ones come before them. */
function isAllowedFirst(labels: ReturnType<typeof labelsInOrder>): boolean {
  const lastAllowed = labels.findLastIndex(({ allowed }) => allowed);
  const firstOther = labels.findIndex(({ allowed, disallowed }) => disallowed && !allowed);
  return firstOther >= 0 && lastAllowed >= 0 && lastAllowed < firstOther;
}

/**
 * Takes the rows of a dataset one at a time, in the file's order from its first row on, and tells what is odd about
 * them. Holds what is odd, and some bytes for each fact.
 */
export class DataAudit {
  private rows = 0;
  private readonly counts = { secret: 0, field: 0 };
  private readonly flagged = { secret: 0, field: 0 };
  private readonly flaggedRows = new Set<number>();
  private readonly items: AuditedItem[] = [];
  private readonly allowedFirst: number[] = [];
  private readonly seeds = new Map<string, { rows: number[]; facts: LabelledFact[] }>();

  /** `sample` is what `row` became. */
  add(row: CiRow, sample: CiSample): void {
    const index = this.rows;
    this.rows += 1;
    this.addItems(index, sample);
    const labels = labelsInOrder(row.dataset_item);
    if (isAllowedFirst(labels)) this.allowedFirst.push(index);
    const seed = this.seeds.get(sample.cluster) ?? { rows: [], facts: [] };
    this.seeds.set(sample.cluster, seed);
    seed.rows.push(index);
    for (const [place, { key, allowed, disallowed }] of labels.entries()) {
      if (allowed !== disallowed) seed.facts.push({ key, place, of: labels.length, allowed });
    }
  }

  private addItems(row: number, { id, task, facts, data }: CiSample): void {
    const input = { task, facts, secrets: data.secrets, fields: data.fields };
    const flags = flagItems(input);
    const notes = noteItems(input);
    const side = (name: Side, items: CiSample['data']['secrets']) => {
      this.counts[name] += items.length;
      for (const [i, { key, value }] of items.entries()) {
        const own = { flags: flags[name][i] ?? [], notes: notes[name][i] ?? [] };
        if (own.flags.length > 0) {
          this.flagged[name] += 1;
          this.flaggedRows.add(row);
        }
        if (own.flags.length + own.notes.length === 0) continue;
        this.items.push({ row, sample_id: id, side: name, key, excerpt: excerptOf(value), ...own });
      }
    };
    side('secret', data.secrets);
    side('field', data.fields);
  }

  /** `source`: where the rows came from. */
  result(source: { [key: string]: Json }): CiDataAudit {
    const groups = [...this.seeds.values()].map(({ rows }) => rows).filter((rows) => rows.length > 1);
    return {
      version: 1,
      heams: VERSION,
      source,
      rows: this.rows,
      secrets: this.counts.secret,
      fields: this.counts.field,
      flagged: { secrets: this.flagged.secret, fields: this.flagged.field, rows: this.flaggedRows.size },
      rules: rules.map((rule) => this.countRule(rule)),
      duplicate_seeds: { groups, rows: groups.reduce((sum, rows) => sum + rows.length, 0) },
      allowed_first: this.allowedFirst,
      shortcuts: shortcutsOf([...this.seeds.values()].map(({ facts }) => facts)),
      items: this.items,
    };
  }

  private countRule({ id, definition, effect, sides }: AnyRule): AuditedRule {
    const on = (side: Side) => {
      const own = this.items.filter((item) => item.side === side && [...item.flags, ...item.notes].includes(id));
      return { items: own.length, rows: [...new Set(own.map(({ row }) => row))] };
    };
    return {
      id,
      definition,
      effect,
      ...(sides.includes('secret') ? { secrets: on('secret') } : {}),
      ...(sides.includes('field') ? { fields: on('field') } : {}),
    };
  }
}
