import { addCell, type Cell, emptyColumn, type IsMissing, type RawColumn, type RawTable } from './cells.ts';
import { checkSize, tellRead } from './raw-table.ts';

const lineFeed = 0x0a;
const wanted = 'Give a list of objects, one for each row: [{"a": 1}, {"a": 2}]; or one object a line.';

/** Gathers objects as rows: their keys name the columns. A column is missing in rows that lack its key. */
class ObjectRows {
  readonly #columns = new Map<string, RawColumn>();
  readonly #places: number[] = [];
  readonly #source: string;
  readonly #unit: 'line' | 'row';
  readonly #isMissing: IsMissing;

  /** @param unit of the places that are counted */
  constructor(source: string, isMissing: IsMissing, unit: 'line' | 'row') {
    this.#source = source;
    this.#isMissing = isMissing;
    this.#unit = unit;
  }

  placeOf(place: number): string {
    return `${this.#source}, ${this.#unit} ${place}`;
  }

  /** @param place its number, from 1 @throws Error for what is no object of cells */
  add(row: unknown, place: number): void {
    const shown = this.placeOf(place);
    if (!isObject(row)) {
      const remedy = `Give one object a ${this.#unit}, with the columns' names as keys.`;
      throw new Error(`${shown}: it is not an object. ${remedy}`);
    }
    for (const [name, value] of Object.entries(row)) {
      let column = this.#columns.get(name);
      if (column === undefined) this.#columns.set(name, (column = emptyColumn(name)));
      this.#fill(column);
      addCell(column, plainCell(value, name, shown), this.#isMissing);
    }
    this.#places.push(place);
    checkSize(this.#source, this.#places.length, this.#columns.size);
  }

  finish(): RawTable {
    for (const column of this.#columns.values()) this.#fill(column);
    return {
      source: this.#source,
      columns: [...this.#columns.values()],
      length: this.#places.length,
      hasNames: true,
      placeOf: (row) => this.placeOf(this.#places[row]),
    };
  }

  #fill(column: RawColumn): void {
    while (column.cells.length < this.#places.length) addCell(column, null, this.#isMissing);
  }
}

/** Reads one JSON object a line. */
export function parseJsonLines(text: Buffer, source: string, isMissing: IsMissing, linesBefore = 0): RawTable {
  const rows = new ObjectRows(source, isMissing, 'line');
  let lineNumber = linesBefore;
  let told = 0;
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = text.indexOf(lineFeed, start) + 1 || text.length;
    const line = text.toString('utf8', start, end);
    lineNumber++;
    if (line.trim() === '') continue;
    rows.add(parseLine(line, rows.placeOf(lineNumber)), lineNumber);
    told = tellRead(end, told, text.length);
  }
  return rows.finish();
}

function parseLine(line: string, place: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new Error(`${place}: it is not JSON. Give one object a line.`, { cause: error });
  }
}

/** Reads a list of objects, as pandas writes by `to_json(orient="records")`; also one object a line. */
export function parseJson(text: Buffer, source: string, isMissing: IsMissing): RawTable {
  const whole = parsed(text.toString('utf8'));
  if (whole === undefined) {
    const first = parsed(text.toString('utf8', 0, text.indexOf(lineFeed) + 1));
    if (isObject(first)) return parseJsonLines(text, source, isMissing);
    throw new Error(`${source} is not JSON. ${wanted}`);
  }
  if (isObject(whole)) {
    const nested = Object.keys(whole).find((key) => typeof whole[key] === 'object' && whole[key] !== null);
    if (nested !== undefined) {
      throw new Error(
        `${source} is one object, in which ${JSON.stringify(nested)} holds a list or an object. ${wanted}`,
      );
    }
  } else if (!Array.isArray(whole)) throw new Error(`${source} is neither a list nor an object. ${wanted}`);
  const rows = new ObjectRows(source, isMissing, 'row');
  for (const [i, row] of [whole].flat().entries()) rows.add(row, i + 1);
  return rows.finish();
}

/** Undefined: it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function plainCell(value: unknown, name: string, place: string): Cell {
  if (typeof value === 'string') return value;
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  throw new Error(
    `${place}: "${name}" holds a list or an object. A cell is a number, a text, true, false or null: give each ` +
      'part a column.',
  );
}
