import { printableLine } from '../../core/text/printable.ts';
import { type Look, plainLook, type Style } from './look.ts';

export interface Column {
  title: string;
  /** Aligns the cells on the right, for numbers. */
  right?: boolean;
  /** In a narrow terminal, the cells may be cut to this number of characters. */
  least?: number;
  /** Columns with a rank are left out of a terminal that is still too narrow, the highest rank first. */
  dispensable?: number;
  /** The colour of a cell. */
  style?: (cell: string) => Style | null;
}

const gap = '  ';

/**
 * Renders a table with aligned columns and a row of titles, without trailing blanks. It fits the width if its columns
 * allow that.
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { width, paint }: Look = plainLook,
): string[] {
  const cells = rows.map((row) => row.map(printableLine));
  const { shown, widths } = fit(columns, cells, width);
  const line = (texts: readonly string[], styleOf: (column: Column, text: string) => Style | null): string =>
    shown
      .map((index, position) => {
        const text = cut(texts[index], widths[position]);
        const blanks = ' '.repeat(widths[position] - text.length);
        const isLast = position === shown.length - 1;
        const painted = paint(styleOf(columns[index], texts[index]), text);
        return columns[index].right ? blanks + painted : painted + (isLast ? '' : blanks);
      })
      .join(gap)
      .trimEnd();
  return [
    line(
      columns.map(({ title }) => title),
      () => 'bold',
    ),
    ...cells.map((row) => line(row, ({ style }, text) => style?.(text) ?? null)),
  ];
}

/** The columns that are shown, and their widths. */
function fit(columns: readonly Column[], cells: readonly (readonly string[])[], width: number) {
  const wanted = columns.map(({ title }, index) => Math.max(title.length, ...cells.map((row) => row[index].length)));
  const least = columns.map((column, index) => Math.min(wanted[index], column.least ?? wanted[index]));
  const sum = (shown: readonly number[], of: readonly number[]): number =>
    shown.reduce((total, index) => total + of[index], gap.length * (shown.length - 1));
  let shown = columns.map((_, index) => index);
  const order = shown
    .filter((index) => columns[index].dispensable !== undefined)
    .sort((a, b) => (columns[b].dispensable ?? 0) - (columns[a].dispensable ?? 0));
  for (const index of order) if (sum(shown, least) > width) shown = shown.filter((other) => other !== index);
  const widths = [...wanted];
  // The widest column gives first.
  for (let excess = sum(shown, widths) - width; excess > 0 && Number.isFinite(excess); excess -= 1) {
    const spare = shown.filter((index) => widths[index] > least[index]);
    if (spare.length === 0) break;
    widths[spare.reduce((widest, index) => (widths[index] > widths[widest] ? index : widest))] -= 1;
  }
  return { shown, widths: shown.map((index) => widths[index]) };
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}

/** Wraps text into lines of at most `width` characters. A longer word gets a separate line. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return line === '' ? lines : [...lines, line];
}
