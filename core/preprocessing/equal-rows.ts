import type { ProfiledColumn } from './profile.ts';

type Values = Pick<ProfiledColumn, 'values'>;

/** The hashes of so many texts of a column are kept. */
const mostRemembered = 2 ** 16;

/** A hash of 53 bits of a sequence of numbers, by the multiplications and shifts of MurmurHash3. */
export function hashOf(length: number, at: (index: number) => number): number {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < length; i++) {
    const own = at(i);
    high = Math.imul(high ^ own, 0x85ebca6b);
    low = Math.imul(low ^ own, 0xc2b2ae35);
    high ^= high >>> 13;
    low ^= low >>> 16;
  }
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}

/** Two numbers for each value, equal for equal ones; shape `[N, 2]`. */
export function codesOf({ values }: Values): Int32Array {
  if (values instanceof Float64Array) {
    // A missing value has several forms.
    return new Int32Array(values.map((value) => (Number.isNaN(value) ? Number.NaN : value)).buffer);
  }
  const codes = new Int32Array(2 * values.length);
  const known = new Map<string, number>();
  for (const [row, value] of values.entries()) {
    if (value === null) continue;
    let hash = known.get(value);
    if (hash === undefined) {
      hash = hashOf(value.length, (at) => value.charCodeAt(at)) + 1;
      if (known.size < mostRemembered) known.set(value, hash);
    }
    codes[2 * row] = hash;
    codes[2 * row + 1] = hash / 2 ** 32;
  }
  return codes;
}

/** A number for each row, equal for rows with the same values, a missing one being a value; shape `[N]`. */
export function rowHashes(columns: readonly Values[], rows: number): Float64Array {
  const codes = columns.map(codesOf);
  return Float64Array.from({ length: rows }, (_, row) =>
    hashOf(2 * codes.length, (at) => codes[at >> 1][2 * row + (at & 1)]),
  );
}

/** Whether two rows have the same values, a missing one being a value. */
export function areEqual(columns: readonly Values[], a: number, b: number): boolean {
  return columns.every(({ values }) => {
    const [own, other] = [values[a], values[b]];
    return own === other || (Number.isNaN(own) && Number.isNaN(other));
  });
}
