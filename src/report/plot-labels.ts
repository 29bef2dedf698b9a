/** A label of a point in a picture, in pixels: where its text stands, and whether it ends there. */
export interface PlotLabel {
  text: string;
  x: number;
  y: number;
  end: boolean;
}

export interface LabelledPoint {
  text: string;
  x: number;
  y: number;
}

export interface LabelSpace {
  /** Points right of this have their label to the left, so that none leaves the picture. */
  turnAt: number;
  top: number;
  bottom: number;
}

/** About as wide as a letter of the plot's type is on average, and as high as a line. */
const LETTER = { width: 6.4, height: 13 };

function overlaps(a: PlotLabel, b: PlotLabel): boolean {
  const leftOf = ({ text, x, end }: PlotLabel) => (end ? x - text.length * LETTER.width : x);
  const [aLeft, bLeft] = [leftOf(a), leftOf(b)];
  const apart = aLeft + a.text.length * LETTER.width < bLeft || bLeft + b.text.length * LETTER.width < aLeft;
  return !apart && Math.abs(a.y - b.y) < LETTER.height;
}

/** Lines above and below a point, the nearest first. */
const offsets = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].flatMap((line) => [
  -6 - LETTER.height * line,
  15 + LETTER.height * line,
]);

/** A place for each label near its point, on no other label: as close as can be, first above, then below. */
export function placeLabels(points: readonly LabelledPoint[], { turnAt, top, bottom }: LabelSpace): PlotLabel[] {
  const placed: PlotLabel[] = [];
  for (const { text, x, y } of points) {
    const end = x > turnAt;
    const at = { text, end, x: x + (end ? -9 : 9) };
    const inside = offsets.map((offset) => y + offset).filter((line) => line > top && line < bottom);
    const free = inside.find((line) => !placed.some((other) => overlaps({ ...at, y: line }, other)));
    placed.push({ ...at, y: free ?? y - 6 });
  }
  return placed;
}
