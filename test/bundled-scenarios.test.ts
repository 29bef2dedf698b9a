import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { leafText, leaves } from '../src/lib/leaves.ts';
import { packageRoot } from '../src/lib/shipped.ts';
import { ciRowSchema } from '../src/schema/contextual-integrity.ts';

const file = join(packageRoot(), 'datasets/heams_scenarios/scenarios.jsonl');
const rows = readFileSync(file, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => ciRowSchema.parse(JSON.parse(line)));

const domains = ['Hospitality', 'Healthcare', 'Entertainment', 'Finance', 'eCommerce', 'Education', 'Government'];
const allDomains = [...domains, 'Family', 'Friends', 'Work'];

describe('the bundled scenarios as a set', () => {
  it('are 72 with ids of their own, over ten domains, three principles, e-mail and chat', () => {
    expect(rows.length).toBe(72);
    expect(new Set(rows.map((row) => row.id)).size).toBe(72);
    expect(new Set(rows.map((row) => row.seed.domain))).toEqual(new Set(allDomains));
    expect(new Set(rows.map((row) => row.seed.transmission_principle))).toEqual(
      new Set(['Confidentiality', 'Proportionality', 'Consent']),
    );
    expect(new Set(rows.map((row) => row.seed.scenario))).toEqual(new Set(['email', 'chat messages']));
  });

  it('have nested values, and text that is not ASCII', () => {
    const annotations = rows.flatMap(({ dataset_item: { annotation } }) => [
      ...Object.values(annotation.allowed),
      ...Object.values(annotation.disallowed),
    ]);
    expect(annotations.filter((value) => typeof value === 'object').length).toBeGreaterThanOrEqual(15);
    const beyondAscii = rows.filter((row) => /[^\p{ASCII}‘’“”–—…]/u.test(JSON.stringify(row.dataset_item)));
    expect(beyondAscii.length).toBeGreaterThanOrEqual(40);
  });
});

describe.each(rows.map((row) => [row.id, row] as const))('scenario %s', (_id, { dataset_item: item }) => {
  const { information, annotation, user_task: task } = item;
  const { allowed, disallowed } = annotation;
  const keys = Object.keys(information);
  const side = (key: string) => (key in allowed ? 'allowed' : 'disallowed');

  it('has 4 to 12 facts, each on exactly one side, interleaved', () => {
    expect(keys.length).toBeGreaterThanOrEqual(4);
    expect(keys.length).toBeLessThanOrEqual(12);
    expect([...Object.keys(allowed), ...Object.keys(disallowed)].sort()).toEqual([...keys].sort());
    expect(Object.keys(allowed).length).toBeGreaterThanOrEqual(2);
    expect(Object.keys(disallowed).length).toBeGreaterThanOrEqual(2);
    const switches = keys.filter((key, i) => i > 0 && side(key) !== side(keys[i - 1] as string)).length;
    expect(switches).toBeGreaterThanOrEqual(2);
  });

  it('has neutral key names', () => {
    expect(keys.join(' ')).not.toMatch(
      /private|secret|confidential|sensitive|public|personal|allowed|hidden|shareable/i,
    );
  });

  it('has values that stand in their own fact alone, and neither in the task nor in any key', () => {
    for (const [key, value] of [...Object.entries(allowed), ...Object.entries(disallowed)]) {
      for (const part of leaves(value)) {
        const sought = part.toLowerCase();
        expect(part.length).toBeGreaterThanOrEqual(4);
        expect(leafText(information[key] ?? '').toLowerCase()).toContain(sought);
        expect(task.toLowerCase()).not.toContain(sought);
        for (const [other, fact] of Object.entries(information)) {
          expect(other.toLowerCase()).not.toContain(sought);
          // A secret stands in no other fact; an allowed value in none of the other side.
          if (other === key || (side(key) === 'allowed' && side(other) === 'allowed')) continue;
          expect(leafText(fact).toLowerCase()).not.toContain(sought);
        }
      }
    }
  });
});
