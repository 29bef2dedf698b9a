import { describe, expect, it } from 'vitest';
import { fuseRankings } from './rank-fusion.ts';

const ranking = (...positions: number[]) => positions.map((position) => ({ position }));

describe('fuseRankings', () => {
  it('adds 1 / (60 + rank) over the rankings', () => {
    // 2: 1/61 + 1/62; 0: 1/62 + 1/61 (a tie with 2, and added before it); 5: 1/63 in one ranking alone
    const fused = fuseRankings([ranking(2, 0), ranking(0, 2, 5)], 9);
    expect(fused.map(({ position }) => position)).toEqual([0, 2, 5]);
    expect(fused[0]?.score).toBeCloseTo(1 / 61 + 1 / 62, 12);
    expect(fused[2]?.score).toBeCloseTo(1 / 63, 12);
  });

  it('puts what both found before what one found first', () => {
    expect(fuseRankings([ranking(7, 3), ranking(8, 3)], 2).map(({ position }) => position)).toEqual([3, 7]);
  });

  it('takes empty rankings', () => {
    expect(fuseRankings([[], ranking(1)], 3).map(({ position }) => position)).toEqual([1]);
    expect(fuseRankings([[], []], 3)).toEqual([]);
  });
});
