/** One measured number, with its target. */
export interface Figure {
  suite: string;
  name: string;
  value: number;
  unit: string;
  better: 'lower' | 'higher';
  /** Null if the number has no target. */
  target: number | null;
  met: boolean | null;
  /** The same job in another program on the same machine. */
  peer?: { name: string; value: number };
}

export interface Suite {
  name: string;
  /** Measures, in a few minutes at most. `note` reports what is being measured. */
  run(note: (message: string) => void): Promise<Figure[]>;
}

/** A figure, compared with its target. */
export function figure(measured: Omit<Figure, 'met'>): Figure {
  const { value, target, better } = measured;
  const met = target === null ? null : better === 'lower' ? value <= target : value >= target;
  return { ...measured, met };
}

/** The median; for an even number of values, the mean of the middle two. */
export function median(values: ArrayLike<number>): number {
  if (values.length === 0) throw new RangeError('An empty list has no median.');
  const sorted = Float64Array.from(values).sort();
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Figures as lines of aligned columns, with a header. */
export function formatTable(figures: readonly Figure[]): string {
  const rows = [['suite', 'figure', 'value', 'unit', 'target', 'met', 'peer'], ...figures.map(formatRow)];
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function formatRow({ suite, name, value, unit, better, target, met, peer }: Figure): string[] {
  const bound = target === null ? '' : `${better === 'lower' ? '<=' : '>='} ${target}`;
  const verdict = met === null ? '' : met ? 'yes' : 'NO';
  return [
    suite,
    name,
    formatNumber(value),
    unit,
    bound,
    verdict,
    peer ? `${peer.name}: ${formatNumber(peer.value)}` : '',
  ];
}

function formatNumber(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 3, useGrouping: false });
}
