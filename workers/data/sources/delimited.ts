/** Delimited text as fields. */

export type Delimiter = 'whitespace' | ',' | ';' | '\t';

export interface Row {
  /** One-based line of the file. */
  line: number;
  fields: string[];
}

/** Rows of a text without its blank lines. A field may stand in double quotes, which are taken off. */
export function splitRows(text: string, file: string, delimiter: Delimiter | 'auto'): Row[] {
  const lines = text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .map((content, index) => ({ line: index + 1, content }))
    .filter(({ content }) => content.trim() !== '');
  const chosen = delimiter === 'auto' ? detectDelimiter(lines[0]?.content ?? '') : delimiter;
  return lines.map(({ line, content }) => ({ line, fields: splitLine(content, chosen, `${file}, line ${line}`) }));
}

/** Semicolon before comma (which may be a decimal comma beside it), and white space where there is neither. */
function detectDelimiter(firstLine: string): Delimiter {
  const unquoted = firstLine.replace(/"[^"]*"/g, '');
  return ([';', ','] as const).find((candidate) => unquoted.includes(candidate)) ?? 'whitespace';
}

function splitLine(content: string, delimiter: Delimiter, place: string): string[] {
  if ((content.match(/"/g)?.length ?? 0) % 2 === 1) {
    throw new Error(`${place}: a quote is opened and not closed. Quoted fields must end on their line.`);
  }
  const quoted: string[] = [];
  // Quoted parts are set aside as NUL characters while the line is split, so that delimiters inside them do not count.
  const masked = content.replace(/"([^"]*)"/g, (_, inner: string) => {
    quoted.push(inner);
    return '\0';
  });
  const fields = delimiter === 'whitespace' ? masked.trim().split(/\s+/) : masked.split(delimiter);
  return fields.map((field) => field.trim().replaceAll('\0', () => quoted.shift() ?? ''));
}
