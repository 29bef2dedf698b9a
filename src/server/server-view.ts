import type { Clock } from '../contracts/call.ts';
import { HeamsError, messageOf } from '../lib/errors.ts';
import { VERSION } from '../lib/version.ts';
import type { CiComparison } from '../schema/ci-comparison.ts';
import type { CiMetrics } from '../schema/ci-metrics.ts';
import type { SampleRecord } from '../schema/record.ts';
import type {
  LabelChange,
  Overview,
  RowFlag,
  RowQuery,
  RowsPage,
  ViewArm,
  ViewLabels,
  ViewRow,
  ViewSample,
} from '../schema/view.ts';
import { maskOf } from '../view/mask.ts';
import { maskRow, maskSample } from '../view/mask-sample.ts';
import { hasFlag, queryRows } from '../view/query-rows.ts';
import { MAX_ROWS, type ViewApi } from '../view/view-api.ts';
import type { ArmIndex } from './arm-index.ts';
import { agreementOf } from './label-agreement.ts';
import type { LabelFile } from './label-file.ts';
import { linesWithText } from './message-search.ts';
import type { IndexedArm, ResultsIndex } from './results-index.ts';

export interface ServerViewOptions {
  index: ResultsIndex;
  /** Absent where nothing can be labelled. */
  labels?: LabelFile;
  clock: Pick<Clock, 'now'>;
  /** Secrets are struck out of everything that is given out. */
  mask: boolean;
  /** False for what is exported: it does not change any more. */
  live: boolean;
  compare(dir: string, baseline: string): Promise<CiComparison>;
}

interface Matched {
  revision: number;
  query: string;
  rows: readonly ViewRow[];
}

/** The read API over an index of a results folder. One query's rows are kept, as a reader scrolls through them. */
export class ServerView implements ViewApi {
  private readonly options: ServerViewOptions;
  private matched: Matched | undefined;
  private search: { revision: number; text: string; found: Set<number> } | undefined;
  private searching: AbortController | undefined;

  constructor(options: ServerViewOptions) {
    this.options = options;
  }

  async overview(): Promise<Overview> {
    const { index, live, mask } = this.options;
    const arms = await Promise.all(index.list().map((arm) => this.arm(arm)));
    return {
      version: 1,
      revision: index.revision,
      title: index.title,
      heams: VERSION,
      masked: mask,
      live,
      arms,
      tags: index.tagValues(),
      unreadable: index.unreadable(),
    };
  }

  private async arm({ index, status }: IndexedArm): Promise<ViewArm> {
    const metrics = await metricsOf(index);
    const { control, defence } = index;
    return {
      experiment: index.experiment.name,
      state: status?.state ?? 'unknown',
      ...(status ? { planned: status.planned } : {}),
      records: index.records,
      ...(index.ready ? {} : { reading: true as const }),
      control,
      ...(defence === undefined ? {} : { defence }),
      ...(metrics ? { metrics: this.options.mask ? withoutTexts(metrics) : metrics } : {}),
    };
  }

  async rows(query: RowQuery, offset: number, limit: number): Promise<RowsPage> {
    const rows = await this.match(query);
    const page = rows.slice(offset, offset + Math.min(limit, MAX_ROWS));
    const { index } = this.options;
    return {
      version: 1,
      revision: index.revision,
      total: index.rows.length,
      matched: rows.length,
      offset,
      rows: await Promise.all(page.map((row) => this.shown(row))),
    };
  }

  async seek(query: RowQuery, from: number, step: 1 | -1, flag: RowFlag): Promise<number | undefined> {
    const rows = await this.match(query);
    for (let at = from; at >= 0 && at < rows.length; at += step) {
      if (hasFlag(rows[at] as ViewRow, flag)) return at;
    }
    return undefined;
  }

  async positionOf(query: RowQuery, row: number): Promise<number | undefined> {
    const at = (await this.match(query)).findIndex((one) => one.row === row);
    return at < 0 ? undefined : at;
  }

  async sample(row: number): Promise<ViewSample> {
    const { index, mask } = this.options;
    const arm = index.armOf(row);
    const record = await arm.record(row);
    const viewer = arm.viewer;
    if (!viewer) throw new Error('an arm with records has a viewer');
    const own = index.rows[row] as ViewRow;
    const siblings = index.rows.filter((one) => one.sample_id === own.sample_id && one.repeat === own.repeat);
    const content = viewer.sample(record);
    const whole = { version: 1 as const, ...content, row: own, siblings };
    return mask ? maskSample(whole, maskOf(viewer.secrets(record))) : whole;
  }

  async differences(baseline: string): Promise<CiComparison | undefined> {
    const { index, compare } = this.options;
    if (index.list().length < 2) return undefined;
    return compare(index.dir, baseline);
  }

  async labels(): Promise<ViewLabels> {
    const { labels, index } = this.options;
    const list = labels?.list() ?? [];
    return { version: 1, labels: list, agreement: await agreementOf(list, index), file: labels?.dir ?? '' };
  }

  async setLabel(change: LabelChange): Promise<ViewLabels> {
    const { labels, clock, index } = this.options;
    if (!labels) throw new HeamsError('labels cannot be set here', { code: 'view_read_only' });
    if (!index.rowOf(change)) throw new HeamsError('there is no such record', { code: 'view_no_row' });
    await labels.set(change, new Date(clock.now()).toISOString());
    index.revision += 1;
    return this.labels();
  }

  /** A row as it is given out. What its message begins with may be a secret. */
  private async shown(row: ViewRow): Promise<ViewRow> {
    if (!this.options.mask || row.excerpt === '') return row;
    const arm = this.options.index.armOf(row.row);
    const record: SampleRecord = await arm.record(row.row);
    return maskRow(row, maskOf(arm.viewer?.secrets(record) ?? []));
  }

  private async match(query: RowQuery): Promise<readonly ViewRow[]> {
    const { index } = this.options;
    const { revision } = index;
    const key = JSON.stringify(query);
    if (this.matched?.revision === revision && this.matched.query === key) return this.matched.rows;
    const found = query.text.trim() === '' ? undefined : await this.rowsWithText(query.text);
    const rows = queryRows(index.rows, query, found);
    this.matched = { revision, query: key, rows };
    return rows;
  }

  private async rowsWithText(text: string): Promise<Set<number>> {
    const { index } = this.options;
    const { revision } = index;
    if (this.search?.revision === revision && this.search.text === text) return this.search.found;
    this.searching?.abort(new Error('a newer search'));
    const own = new AbortController();
    this.searching = own;
    const found = new Set<number>();
    for (const { index: arm } of index.list()) {
      for (const line of await linesWithText(arm.experiment.runsFile, text, own.signal)) {
        const row = arm.rowAt(line);
        if (row !== undefined) found.add(row);
      }
    }
    this.search = { revision, text, found };
    return found;
  }
}

/** An arm's metrics; nothing where its records do not fit each other, which is said and is no reason to show nothing. */
async function metricsOf(index: ArmIndex): Promise<CiMetrics | undefined> {
  try {
    return (await index.metrics()) as CiMetrics | undefined;
  } catch (error) {
    if (!(error instanceof HeamsError)) throw error;
    index.report({ file: index.experiment.runsFile, line: 0, message: messageOf(error) });
    return undefined;
  }
}

/** Metrics without the messages and values that they quote: those belong to samples, where they are masked one by one. */
function withoutTexts(metrics: CiMetrics): CiMetrics {
  const noValues = <S extends { unrecalled: readonly unknown[] }>(side: S): S => ({ ...side, unrecalled: [] });
  return {
    ...metrics,
    worst: [],
    failures: metrics.failures.map((group) => ({ ...group, examples: [] })),
    unreadable: [],
    exposure: { secret: noValues(metrics.exposure.secret), field: noValues(metrics.exposure.field) },
  };
}
