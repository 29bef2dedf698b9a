import type { Block, Document } from '../contracts/document.ts';
import { HeamsError } from '../lib/errors.ts';
import { loadPackage } from '../lib/optional-package.ts';
import { funnelSvg } from './funnel.ts';
import { intervalPlotSvg } from './interval-plot.ts';

export interface Figure {
  /** Letters, digits and hyphens: a file's name without its ending. */
  name: string;
  svg: string;
}

/** The colours of a printed page: a picture in a paper has no reader's settings to follow. */
const style = `svg{background:#fff}text{fill:#545d68;font-size:12px;font-family:"Helvetica Neue",Arial,"Noto Sans",sans-serif}
.axis,.label{fill:#1c2024}.grid{stroke:#d9dde2;stroke-width:1}.interval{stroke:currentColor;stroke-width:1.5}circle{fill:currentColor}
.reference circle{fill:#fff;stroke:currentColor;stroke-width:2}.bar{fill:#0b57a4}.open{fill:#0b57a4;opacity:.35}.track{fill:#eef0f2}
.series-0{color:#0b57a4}.series-1{color:#b3471b}.series-2{color:#1d7a4f}.series-3{color:#8a3ea8}.series-4{color:#7c5f00}.series-5{color:#a3244e}`;

/** A picture that stands alone: its namespace, its size, its styles, and paper behind it. */
function standalone(svg: string): string {
  const [, width, height] = /viewBox="0 0 (\d+(?:\.\d+)?) (\d+(?:\.\d+)?)"/.exec(svg) ?? [];
  const opened = svg.replace('<svg ', `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" `);
  const end = opened.indexOf('>') + 1;
  const paper = `<rect width="${width}" height="${height}" fill="#fff"/>`;
  return `${opened.slice(0, end)}<style>${style}</style>${paper}${opened.slice(end)}\n`;
}

function svgOf(block: Block): string | undefined {
  if (block.kind === 'interval_plot') return intervalPlotSvg(block);
  if (block.kind === 'funnel') return funnelSvg(block);
  return undefined;
}

function* blocksOf(blocks: readonly Block[]): Generator<Block> {
  for (const block of blocks) {
    yield block;
    if (block.kind === 'details') yield* blocksOf(block.blocks);
  }
}

const names = { interval_plot: 'leakage-coverage', funnel: 'exposure' } as const;

/** Every figure of a report, in order, under names that begin with `prefix`. */
export function figuresOf(document: Document, prefix: string): Figure[] {
  const counts = new Map<string, number>();
  return [...blocksOf(document.blocks)].flatMap((block) => {
    const svg = svgOf(block);
    if (svg === undefined) return [];
    const kind = names[block.kind as keyof typeof names];
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return [{ name: `${prefix}-${kind}${count === 1 ? '' : `-${count}`}`, svg: standalone(svg) }];
  });
}

/** Twice the size in pixels, as print and dense screens ask for. */
const ZOOM = 2;

/**
 * The figure as PNG, by the package `@resvg/resvg-js`.
 *
 * @throws HeamsError `package_not_installed`; `figure_not_drawn` where the picture cannot be drawn.
 */
export async function pngOf({ svg, name }: Figure): Promise<Uint8Array> {
  const resvg = { name: '@resvg/resvg-js', install: '@resvg/resvg-js@2' };
  const { Resvg } = await loadPackage(resvg, () => import('@resvg/resvg-js'));
  // `currentColor` from a class is beyond this renderer: the colours are put in place for it.
  try {
    return new Resvg(svg, { fitTo: { mode: 'zoom', value: ZOOM } }).render().asPng();
  } catch (cause) {
    throw new HeamsError(`the figure ${name} cannot be drawn as PNG`, { code: 'figure_not_drawn', cause });
  }
}
