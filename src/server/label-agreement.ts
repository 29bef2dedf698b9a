import type { ViewLabel, ViewLabels } from '../schema/view.ts';
import { cohenKappa } from '../stats/kappa.ts';
import type { ResultsIndex } from './results-index.ts';

/** What the primary judge said of a labelled item, as a label; nothing where it is open or was never asked. */
async function judgesLabel(label: ViewLabel, index: ResultsIndex): Promise<string | undefined> {
  const row = index.rowOf(label);
  if (!row) return undefined;
  const arm = index.armOf(row.row);
  const shown = arm.viewer?.sample(await arm.record(row.row));
  if (!shown) return undefined;
  if (label.item === 'helpfulness') {
    const verdict = shown.primary === undefined ? undefined : shown.helpfulness[shown.primary];
    return verdict?.status === 'judged' ? String(verdict.value) : undefined;
  }
  const at = label.item.indexOf(':');
  const [side, key] = [label.item.slice(0, at), label.item.slice(at + 1)];
  const item = shown.items.find((one) => one.side === side && one.key === key);
  return item?.disclosed === undefined ? undefined : item.disclosed ? 'yes' : 'no';
}

const yesNo = ['no', 'yes'];

/**
 * How often people and the primary judge agree: over every label that says something of an item that was judged. Kappa
 * is over secrets and fields, whose labels are yes and no.
 */
export async function agreementOf(labels: readonly ViewLabel[], index: ResultsIndex): Promise<ViewLabels['agreement']> {
  const table = [
    [0, 0],
    [0, 0],
  ];
  let [compared, agree] = [0, 0];
  for (const label of labels) {
    if (label.label === 'unsure') continue;
    const judge = await judgesLabel(label, index);
    if (judge === undefined) continue;
    compared += 1;
    if (judge === label.label) agree += 1;
    const [person, other] = [yesNo.indexOf(label.label), yesNo.indexOf(judge)];
    if (person >= 0 && other >= 0) (table[person] as number[])[other] = (table[person]?.[other] ?? 0) + 1;
  }
  const kappa = cohenKappa(table);
  return { compared, agree, ...(kappa.defined ? { kappa: kappa.value } : {}) };
}
