/** A part of a flatbuffer: a table, whose fields have numbers from 0. All reads stay within the buffer: DataView refuses others. */
export class FlatTable {
  readonly #view: DataView;
  readonly #start: number;
  readonly #fields: number;
  readonly #size: number;

  /** @param at where the offset of the table lies */
  constructor(view: DataView, at: number) {
    this.#view = view;
    this.#start = at + view.getUint32(at, true);
    this.#fields = this.#start - view.getInt32(this.#start, true);
    this.#size = view.getUint16(this.#fields, true);
  }

  int64(field: number): number {
    const at = this.#at(field);
    return at === null ? 0 : Number(this.#view.getBigInt64(at, true));
  }

  int32(field: number): number {
    const at = this.#at(field);
    return at === null ? 0 : this.#view.getInt32(at, true);
  }

  int16(field: number, absent = 0): number {
    const at = this.#at(field);
    return at === null ? absent : this.#view.getInt16(at, true);
  }

  uint8(field: number): number {
    const at = this.#at(field);
    return at === null ? 0 : this.#view.getUint8(at);
  }

  text(field: number): string {
    const at = this.#at(field);
    if (at === null) return '';
    const start = at + this.#view.getUint32(at, true);
    const length = this.#view.getUint32(start, true);
    const { buffer, byteOffset } = this.#view;
    this.#requireInside(start + 4 + length);
    return Buffer.from(buffer, byteOffset + start + 4, length).toString('utf8');
  }

  table(field: number): FlatTable | null {
    const at = this.#at(field);
    return at === null ? null : new FlatTable(this.#view, at);
  }

  /** The tables of a vector. */
  tables(field: number): FlatTable[] {
    return this.structs(field, 4, (view, at) => new FlatTable(view, at));
  }

  /** The elements of a vector, of `bytes` each. */
  structs<T>(field: number, bytes: number, read: (view: DataView, at: number) => T): T[] {
    const at = this.#at(field);
    if (at === null) return [];
    const start = at + this.#view.getUint32(at, true);
    const length = this.#view.getUint32(start, true);
    this.#requireInside(start + 4 + length * bytes);
    return Array.from({ length }, (_, i) => read(this.#view, start + 4 + i * bytes));
  }

  #at(field: number): number | null {
    const place = 4 + 2 * field;
    if (place + 2 > this.#size) return null;
    const offset = this.#view.getUint16(this.#fields + place, true);
    return offset === 0 ? null : this.#start + offset;
  }

  #requireInside(end: number): void {
    if (end > this.#view.byteLength) throw new Error('a list or text ends beyond its part of the file');
  }
}
