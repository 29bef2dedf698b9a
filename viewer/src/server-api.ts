import { z } from 'zod';
import { ciComparisonSchema } from '../../src/schema/ci-comparison.ts';
import {
  type LabelChange,
  overviewSchema,
  type RowFlag,
  type RowQuery,
  rowsPageSchema,
  viewLabelsSchema,
  viewSampleSchema,
} from '../../src/schema/view.ts';
import { queryToParams } from '../../src/view/row-query-text.ts';
import type { ViewApi } from '../../src/view/view-api.ts';

const positionSchema = z.strictObject({ position: z.int().nonnegative().optional() });
const revisionSchema = z.strictObject({ revision: z.int().nonnegative() });

type Params = Record<string, string | number>;

/** Asks the server that the page came from; every address is relative to the page's own. */
export class ServerApi implements ViewApi {
  private readonly mask: boolean;

  constructor(mask: boolean) {
    this.mask = mask;
  }

  private async ask<T>(schema: z.ZodType<T>, path: string, params: Params = {}, init?: RequestInit): Promise<T> {
    const search = new URLSearchParams(Object.entries(params).map(([name, value]) => [name, String(value)]));
    if (this.mask) search.set('mask', '1');
    const answer = await fetch(`api/${path}${search.size > 0 ? `?${search}` : ''}`, init);
    const body: unknown = await answer.json().catch(() => undefined);
    if (!answer.ok) {
      const said = (body as { error?: unknown } | undefined)?.error;
      throw new Error(typeof said === 'string' ? said : `the server answered ${answer.status}`);
    }
    return schema.parse(body);
  }

  overview() {
    return this.ask(overviewSchema, 'overview');
  }

  rows(query: RowQuery, offset: number, limit: number) {
    return this.ask(rowsPageSchema, 'rows', { q: queryToParams(query).toString(), offset, limit });
  }

  async seek(query: RowQuery, from: number, step: 1 | -1, flag: RowFlag) {
    const params = { q: queryToParams(query).toString(), from, step, flag };
    return (await this.ask(positionSchema, 'seek', params)).position;
  }

  async positionOf(query: RowQuery, row: number) {
    return (await this.ask(positionSchema, 'position', { q: queryToParams(query).toString(), row })).position;
  }

  sample(row: number) {
    return this.ask(viewSampleSchema, `samples/${row}`);
  }

  async differences(baseline: string) {
    return (await this.ask(ciComparisonSchema.nullable(), 'differences', { baseline })) ?? undefined;
  }

  labels() {
    return this.ask(viewLabelsSchema, 'labels');
  }

  setLabel(change: LabelChange) {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(change) };
    return this.ask(viewLabelsSchema, 'labels', {}, init);
  }

  async revision(): Promise<number> {
    return (await this.ask(revisionSchema, 'revision')).revision;
  }
}
