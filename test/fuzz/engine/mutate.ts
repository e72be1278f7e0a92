import type { Random } from './random.ts';

/** Numbers at which code that reads lengths and positions breaks first. */
const interestingIntegers = [
  0,
  1,
  7,
  8,
  127,
  128,
  255,
  256,
  32_767,
  32_768,
  65_535,
  65_536,
  2 ** 24,
  2 ** 30,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32 - 1,
];
const interestingTexts = [
  'NaN', 'Infinity', '-Infinity', '-0', '1e999', '-1', '9007199254740993', '0x10', 'null', 'true', '[]', '{}', '""', '__proto__',
  'constructor', 'toString', '../../x', '/', '\\', '\0', '\r\n', '\n', ',', ';', '"', '=', '.', '%00', '\u{feff}', '\u{1f4a5}', '\u001b[2J',
  '['.repeat(20_000), '{"a":'.repeat(5000), '9'.repeat(400), 'a'.repeat(5000),
]; // prettier-ignore
const interestingValues: readonly unknown[] = [
  null, true, false, 0, -1, 0.5, 2 ** 31, 2 ** 53, 1e308, '', 'NaN', '__proto__', '../../x', 'a'.repeat(3000), [], {}, [[]], [null], { a: 1 },
]; // prettier-ignore

/** A change of some bytes. */
export type Mutation = (bytes: Buffer, random: Random) => Buffer;

const splice = (bytes: Buffer, from: number, to: number, inserted: Uint8Array): Buffer =>
  Buffer.concat([bytes.subarray(0, from), inserted, bytes.subarray(to)]);

const overwrite = (bytes: Buffer, random: Random, written: Uint8Array): Buffer => {
  const at = random.below(bytes.length + 1);
  return splice(bytes, at, Math.min(bytes.length, at + written.length), written);
};

function integerBytes(random: Random): Buffer {
  const [value, width] = [random.pick(interestingIntegers), random.pick([1, 2, 4, 8])];
  const bytes = Buffer.alloc(8);
  const isLittleEndian = random.below(2) === 0;
  if (isLittleEndian) bytes.writeBigUInt64LE(BigInt(value));
  else bytes.writeBigUInt64BE(BigInt(value));
  return isLittleEndian ? bytes.subarray(0, width) : bytes.subarray(8 - width);
}

function range(bytes: Buffer, random: Random): [from: number, to: number] {
  const from = random.below(bytes.length + 1);
  return [from, Math.min(bytes.length, from + 1 + random.below(random.pick([4, 64, 4096])))];
}

const byteMutations: readonly Mutation[] = [
  // A flipped bit, another byte.
  (bytes, random) =>
    overwrite(bytes, random, Uint8Array.of((bytes[random.below(bytes.length)] ?? 0) ^ (1 << random.below(8)))),
  (bytes, random) => overwrite(bytes, random, Uint8Array.of(random.below(256))),
  (bytes, random) => overwrite(bytes, random, integerBytes(random)),
  (bytes, random) => {
    const at = random.below(bytes.length + 1);
    return splice(
      bytes,
      at,
      at,
      Uint8Array.from({ length: 1 + random.below(8) }, () => random.below(256)),
    );
  },
  // A removed range, a repeated one, a shortened file.
  (bytes, random) => splice(bytes, ...range(bytes, random), Buffer.alloc(0)),
  (bytes, random) => {
    const [from, to] = range(bytes, random);
    const copies = Array.from({ length: 1 + random.below(16) }, () => bytes.subarray(from, to));
    return splice(bytes, to, to, Buffer.concat(copies));
  },
  (bytes, random) => bytes.subarray(0, random.below(bytes.length + 1)),
  (bytes, random) => {
    const at = random.below(bytes.length + 1);
    return splice(bytes, at, at, Buffer.from(random.pick(interestingTexts)));
  },
  replaceNumber,
];

/** Replaces a decimal number of a text by another one. */
function replaceNumber(bytes: Buffer, random: Random): Buffer {
  const text = bytes.toString('latin1');
  const numbers = [...text.matchAll(/-?\d+(\.\d+)?/g)];
  if (numbers.length === 0) return bytes;
  const chosen = random.pick(numbers);
  const other = random.pick([...interestingIntegers.map(String), '-1', '1.5', '1e308', '9'.repeat(30), 'NaN', '']);
  return splice(bytes, chosen.index, chosen.index + chosen[0].length, Buffer.from(other));
}

/** Replaces, removes, repeats or nests one value of a JSON text; other texts stay as they are. */
function changeJson(bytes: Buffer, random: Random): Buffer {
  let root: { value: unknown };
  try {
    root = { value: JSON.parse(bytes.toString()) as unknown };
  } catch {
    return bytes;
  }
  const places: [holder: Record<string, unknown>, key: string][] = [];
  const visit = (holder: object): void => {
    for (const [key, item] of Object.entries(holder) as [string, unknown][]) {
      places.push([holder as Record<string, unknown>, key]);
      if (typeof item === 'object' && item !== null) visit(item);
    }
  };
  visit(root);
  const [holder, key] = random.pick(places);
  const [, other] = random.pick(places);
  const changes: (() => void)[] = [
    () => void (holder[key] = random.pick(interestingValues)),
    () => void (Array.isArray(holder) ? holder.splice(Number(key), 1) : delete holder[key]),
    () => void (holder[key] = [structuredClone(holder[key])]),
    () => void (holder[random.pick(['x', '__proto__', '', other])] = structuredClone(holder[key])),
    () => void (holder[key] = structuredClone(random.pick(places)[0])),
  ];
  random.pick(changes)();
  return Buffer.from(JSON.stringify(root.value) ?? '');
}

/** Pieces of two inputs. */
export function cross(one: Buffer, other: Buffer, random: Random): Buffer {
  return Buffer.concat([one.subarray(0, random.below(one.length + 1)), other.subarray(random.below(other.length + 1))]);
}

/** One to eight random changes of an input, cut at `maximumBytes`. */
export function mutate(input: Buffer, random: Random, maximumBytes: number): Buffer {
  let bytes = input;
  for (let changes = 1 << random.below(4); changes > 0; changes -= 1) {
    const change = random.below(3) === 0 ? changeJson : random.pick(byteMutations);
    bytes = change(bytes, random).subarray(0, maximumBytes);
  }
  return bytes;
}
