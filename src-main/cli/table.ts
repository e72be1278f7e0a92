import { printableLine } from '../../core/text/printable.ts';

export interface Column {
  title: string;
  /** Aligns the cells on the right, for numbers. */
  right?: boolean;
}

/** Renders a table with aligned columns and a row of titles, without trailing blanks. */
export function renderTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const lines = [columns.map(({ title }) => title), ...rows.map((cells) => cells.map(printableLine))];
  const widths = columns.map((_, column) => Math.max(...lines.map((cells) => cells[column].length)));
  return lines.map((cells) =>
    columns
      .map(({ right }, column) =>
        right ? cells[column].padStart(widths[column]) : cells[column].padEnd(widths[column]),
      )
      .join('  ')
      .trimEnd(),
  );
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
