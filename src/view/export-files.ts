/** Rows of the table in one file of an export, and whole samples in one. */
const ROWS = 5000;
const SAMPLES = 20;

const numbered = (name: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${name}-${i}`);

/** Names of a static export's files, without folder and ending: the writer and the page go by the same. */
export interface ExportFiles {
  overview: string;
  /** All rows in order, cut into files; and their messages for the search, cut the same way. */
  rows(total: number): string[];
  texts(total: number): string[];
  /** The file that holds a sample, and its place there. */
  sample(row: number): [string, number];
  /** Every arm against the arm at this place of the overview. */
  differences(arm: number): string;
  rowsPerFile: number;
  samplesPerFile: number;
}

export function exportFilesOf(): ExportFiles {
  return {
    overview: 'overview',
    rows: (total) => numbered('rows', Math.ceil(total / ROWS)),
    texts: (total) => numbered('texts', Math.ceil(total / ROWS)),
    sample: (row) => [`samples-${Math.floor(row / SAMPLES)}`, row % SAMPLES],
    differences: (arm) => `differences-${arm}`,
    rowsPerFile: ROWS,
    samplesPerFile: SAMPLES,
  };
}
