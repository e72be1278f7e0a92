export interface Column {
  title: string;
  /** Numbers stand better on the right. */
  right?: boolean;
}

/** A table in aligned columns, its titles first; lines end without blanks. */
export function renderTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const lines = [columns.map(({ title }) => title), ...rows];
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

/** Breaks text between words into lines of at most `width` characters; longer words stand alone. */
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
