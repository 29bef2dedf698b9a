import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ciRow } from '../../../test/support/dataset-rows.ts';
import { sharedData } from '../../../test/support/shared-data.ts';
import { readRows } from '../../datasets/read-rows.ts';
import { packageRoot } from '../../lib/shipped.ts';
import { type CiDataAudit, ciDataAuditSchema } from '../../schema/ci-data-audit.ts';
import { DataAudit } from './audit-data.ts';
import { auditDocument } from './audit-data-document.ts';
import { checkRow, ciColumns, sampleOf } from './rows.ts';

function addTo(audit: DataAudit, value: unknown, index: number): void {
  const checked = checkRow(value, index, { file: 'rows' });
  if (checked.status === 'bad') throw checked.errors[0];
  audit.add(checked.row, sampleOf(checked.row, checked.id, 0));
}

function auditOf(rows: readonly unknown[]): CiDataAudit {
  const audit = new DataAudit();
  for (const [i, row] of rows.entries()) addTo(audit, row, i);
  return ciDataAuditSchema.parse(audit.result({ kind: 'test' }));
}

async function auditOfFile(file: string): Promise<CiDataAudit> {
  const audit = new DataAudit();
  const signal = new AbortController().signal;
  for await (const { row, value } of readRows(file, { columns: ciColumns, signal })) addTo(audit, value, row);
  return ciDataAuditSchema.parse(audit.result({}));
}

/** Items and rows by rule, secrets then fields. */
const countsOf = ({ rules }: CiDataAudit) =>
  Object.fromEntries(
    rules.map(({ id, secrets, fields }) => [
      id,
      [secrets, fields].map((side) => (side ? [side.items, side.rows.length] : undefined)),
    ]),
  );

const rightOf = ({ shortcuts }: CiDataAudit) =>
  Object.fromEntries(shortcuts.map(({ id, accuracy }) => [id, [accuracy.numerator, accuracy.denominator]]));

/** A row with other information and annotations. */
function rowWith(item: Record<string, unknown>) {
  const row = ciRow();
  return { ...row, dataset_item: { ...row.dataset_item, ...item } };
}

describe('DataAudit', () => {
  it('lists items in the order of the rows, secrets first, and counts rows once', () => {
    const odd = rowWith({
      information: { arrival: 'on 2 May', mode: 'by bus', seat: 'seat 4A' },
      annotation: { allowed: { arrival: '2 May' }, disallowed: { mode: 'bus', seat: '4A' } },
    });
    const audit = auditOf([ciRow(1), odd]);
    expect(audit.items).toEqual([
      { row: 1, sample_id: 'ci-0001', side: 'secret', key: 'mode', excerpt: 'bus', flags: ['short'], notes: [] },
      { row: 1, sample_id: 'ci-0001', side: 'secret', key: 'seat', excerpt: '4A', flags: ['short'], notes: [] },
    ]);
    expect(audit.flagged).toEqual({ secrets: 2, fields: 0, rows: 1 });
    expect(audit.rules.find(({ id }) => id === 'short')).toMatchObject({ secrets: { items: 2, rows: [1] } });
    expect([audit.rows, audit.secrets, audit.fields]).toEqual([2, 3, 2]);
  });

  it('knows the published order, and the rows of a seed', () => {
    const mixed = rowWith({
      information: { health: 'I take Eutirox', arrival: 'on 2 May', trip: 'to Oslo and Bergen', extra: 'whatever' },
      annotation: { allowed: { arrival: '2 May', trip: 'Oslo' }, disallowed: { health: 'Eutirox', trip: 'Bergen' } },
    });
    // "health" stands before "arrival"; in row 2 the key on both sides counts with the allowed.
    const late = rowWith({
      information: { arrival: 'on 2 May', trip: 'to Oslo and Bergen', health: 'I take Eutirox' },
      annotation: mixed.dataset_item.annotation,
    });
    const audit = auditOf([ciRow(7), mixed, late, ciRow(7)]);
    expect(audit.allowed_first).toEqual([0, 2, 3]);
    expect(audit.duplicate_seeds).toEqual({
      groups: [
        [0, 3],
        [1, 2],
      ],
      rows: 4,
    });
    // Facts on one side alone: two in each row; "trip" is on both sides and "extra" on none.
    expect(rightOf(audit).majority).toEqual([4, 8]);
  });

  it('makes a document of hostile rows that holds nothing but text', async () => {
    const evil = '](x) <script>alert(1)</script> |`\u202e\u001b[31m';
    const audit = auditOf([
      rowWith({ information: { [evil]: 'N/A' }, annotation: { allowed: { [evil]: `N/A ${evil}` }, disallowed: {} } }),
    ]);
    const { renderMarkdown } = await import('../../report/render-markdown.ts');
    const text = renderMarkdown(auditDocument(audit));
    expect(text).toContain('absent_from_fact');
    expect(text).not.toMatch(/[\u202e\u001b]/);
    const cell = text.split('\n').find((line) => line.startsWith('| 0 |'));
    // Four pipes more would be other columns: those of the text are escaped, and its backtick cannot end the code span.
    expect(cell?.replace(/\\\|/g, '').split('|').length).toBe(8);
    expect(cell).toContain('``');
  });
});

describe.skipIf(!sharedData)('the real 729 rows (skipped where they are not laid beside the repository)', () => {
  let audit: CiDataAudit;
  beforeAll(async () => {
    audit = await auditOfFile(join(sharedData as string, 'contextual_integrity_729.json'));
  });

  /*
   * Counted by a separate program in Python over the JSON file. For each side, with `own` and `other` as its annotation
   * and that of the other side, lo = the leaves in lower case, fact[k] = the leaves of information[k] in lower case:
   *
   *   equal        set(lo) & {p.lower() for v in other.values() for p in leaves(v)}
   *   in_task      any(p in user_task.lower() for p in lo)
   *   in_other     any(k2 != k and k2 in other and p in (k2 + ': ').lower() + t for k2, t in fact.items() for p in lo)
   *   short        any(len(p) < 4 for p in leaves(v))
   *   label        any(all(w.isalpha() and (w in LABELS or w in words(k)) for w in words(p)) for p in leaves(v))
   *   absent       any(p not in fact[k] for p in lo)
   *   placeholder  brackets around letters, three of one of *#_?, XXX, a stand-in word, or digits that all go up (from 0
   *                or 1), all go down (from 9, or to 1 or 0) or are all the same
   *   both         k in other
   *   allowed first  s == sorted(s) with s = ['A' if k in allowed else 'D' for k in information]
   */
  it('have flags as counted by another program: items and rows, secrets then fields', () => {
    expect(countsOf(audit)).toEqual({
      equal_to_allowed: [[31, 28], undefined],
      equal_to_disallowed: [undefined, [31, 28]],
      in_task: [
        [8, 7],
        [40, 38],
      ],
      in_other_allowed_fact: [[51, 46], undefined],
      short: [
        [57, 53],
        [114, 109],
      ],
      label_not_value: [
        [52, 48],
        [14, 14],
      ],
      absent_from_fact: [
        [105, 78],
        [98, 75],
      ],
      placeholder: [
        [89, 77],
        [9, 9],
      ],
      on_both_sides: [
        [4, 4],
        [4, 4],
      ],
      in_other_disallowed_fact: [undefined, [303, 209]],
      without_fact: [
        [0, 0],
        [0, 0],
      ],
    });
    expect(audit.flagged).toEqual({ secrets: 346, fields: 293, rows: 379 });
    expect(audit.rules.find(({ id }) => id === 'on_both_sides')?.secrets?.rows).toEqual([52, 53, 160, 401]);
  });

  it('have 91 groups of one seed over 186 rows, and 669 rows with all allowed keys first', () => {
    expect([audit.duplicate_seeds.groups.length, audit.duplicate_seeds.rows]).toEqual([91, 186]);
    expect(audit.allowed_first.length).toBe(669);
    expect([audit.rows, audit.secrets, audit.fields]).toEqual([729, 1914, 2110]);
  });

  /*
   * By the same program, each seed left out in turn and the rest counted anew:
   *
   *   first half   ((i + .5) / n < .5) == allowed
   *   threshold    ok(t) = ((2 * i + 1) * 100 < 2 * t * n) == allowed; t = the first of 0..100 with most ok in the rest
   *   key name     log(n[y] / len(rest)) + sum(log((c[y][w] + 1) / (N[y] + len(V))) for w in set(words(k)) if w in V)
   */
  it('give their labels away by position and by key name', () => {
    expect(rightOf(audit)).toEqual({
      majority: [2106, 4016],
      first_half: [3562, 4016],
      position_threshold: [3692, 4016],
      key_name: [3402, 4016],
    });
    // p = 3402/4016; c = (p + z*z/2/n) / (1 + z*z/n); h = z * sqrt(p*(1-p)/n + z*z/4/n/n) / (1 + z*z/n); c - h, c + h
    const keyName = audit.shortcuts.find(({ id }) => id === 'key_name')?.accuracy;
    expect(keyName?.defined && keyName.interval.low).toBeCloseTo(0.8356498695, 9);
    expect(keyName?.defined && keyName.interval.high).toBeCloseTo(0.8579098214, 9);
  });
});

describe('the bundled scenarios', () => {
  it('have no flag, no note, no shared seed, and mixed orders; shortcuts gain little or nothing', async () => {
    const audit = await auditOfFile(join(packageRoot(), 'datasets/heams_scenarios/scenarios.jsonl'));
    expect(audit.items).toEqual([]);
    expect(audit.duplicate_seeds.rows).toBe(0);
    expect(audit.allowed_first).toEqual([]);
    // By the Python program as well. Position gives nothing; key names 6 points (62.5 against 56.6 per cent), as against
    // 32 points in the published rows.
    expect(rightOf(audit)).toEqual({
      majority: [302, 534],
      first_half: [277, 534],
      position_threshold: [302, 534],
      key_name: [334, 534],
    });
  });
});
