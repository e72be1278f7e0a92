/** An end of a selected range. */
export type BrushEnd = 'from' | 'to';

/** Where a key moves an end to, as a share of the axis; null for a key that does not move it. */
export function movedByKey(key: string, share: number, step: number): number | null {
  switch (key) {
    case 'ArrowUp':
    case 'ArrowRight':
      return Math.min(share + step, 1);
    case 'ArrowDown':
    case 'ArrowLeft':
      return Math.max(share - step, 0);
    case 'PageUp':
      return Math.min(share + 5 * step, 1);
    case 'PageDown':
      return Math.max(share - 5 * step, 0);
    case 'Home':
      return 0;
    case 'End':
      return 1;
    default:
      return null;
  }
}

/** The range with one end moved. It does not pass the other end. */
export function withEnd([from, to]: [number, number], end: BrushEnd, share: number): [number, number] {
  return end === 'from' ? [Math.min(share, to), to] : [from, Math.max(share, from)];
}
