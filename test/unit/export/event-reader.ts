/**
 * An independent reader of TensorBoard event files, from the format's description. It shares no code with the writer.
 */

export interface ReadEvent {
  wallTimeSeconds: number;
  step: number;
  fileVersion: string | null;
  scalars: [tag: string, value: number][];
}

/** @throws Error if a record's checksum does not fit, or the file ends within a record */
export function readEventFile(file: Buffer): ReadEvent[] {
  const events: ReadEvent[] = [];
  for (let at = 0; at < file.length;) {
    const length = Number(file.readBigUInt64LE(at));
    requireChecksum(file.subarray(at, at + 8), file.readUInt32LE(at + 8));
    const data = file.subarray(at + 12, at + 12 + length);
    requireChecksum(data, file.readUInt32LE(at + 12 + length));
    events.push(readEvent(data));
    at += 16 + length;
  }
  return events;
}

function requireChecksum(data: Buffer, masked: number): void {
  const unmasked = BigInt.asUintN(32, BigInt(masked) - 0xa282ead8n);
  const stored = BigInt.asUintN(32, (unmasked << 15n) | (unmasked >> 17n));
  if (stored !== crcByDivision(data)) throw new Error(`Checksum ${stored} does not fit.`);
}

/** CRC32C bit by bit, as polynomial division (0x1EDC6F41), most significant bit first. */
function crcByDivision(data: Buffer): bigint {
  let remainder = 0xffffffffn;
  for (const byte of data) {
    for (let bit = 0; bit < 8; bit += 1) {
      const top = (remainder >> 31n) ^ BigInt((byte >> bit) & 1);
      remainder = BigInt.asUintN(32, remainder << 1n) ^ (top === 1n ? 0x1edc6f41n : 0n);
    }
  }
  const bits = remainder.toString(2).padStart(32, '0');
  return BigInt(`0b${Array.from(bits).toReversed().join('')}`) ^ 0xffffffffn;
}

function readEvent(data: Buffer): ReadEvent {
  const event: ReadEvent = { wallTimeSeconds: Number.NaN, step: 0, fileVersion: null, scalars: [] };
  for (const { field, value } of readFields(data)) {
    if (field === 1 && Buffer.isBuffer(value)) event.wallTimeSeconds = value.readDoubleLE();
    if (field === 2 && typeof value === 'number') event.step = value;
    if (field === 3 && Buffer.isBuffer(value)) event.fileVersion = value.toString();
    if (field === 5 && Buffer.isBuffer(value)) event.scalars = readFields(value).map(readScalar);
  }
  return event;
}

function readScalar({ value }: Field): [string, number] {
  if (!Buffer.isBuffer(value)) throw new Error('A summary value is a message.');
  const fields = new Map(readFields(value).map((field) => [field.field, field.value]));
  const [tag, simpleValue] = [fields.get(1), fields.get(2)];
  if (!Buffer.isBuffer(tag) || !Buffer.isBuffer(simpleValue)) throw new Error('A scalar has a tag and a simple_value.');
  return [tag.toString(), simpleValue.readFloatLE()];
}

interface Field {
  field: number;
  value: number | Buffer;
}

function readFields(data: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = data[at];
      at += 1;
      value += (byte & 0x7f) * shift;
      if (byte < 0x80) return value;
    }
  };
  const bytes = (length: number) => {
    at += length;
    if (at > data.length) throw new Error('The message ends within a field.');
    return data.subarray(at - length, at);
  };
  while (at < data.length) {
    const key = varint();
    const readers: Record<number, () => number | Buffer> = {
      0: varint,
      1: () => bytes(8),
      2: () => bytes(varint()),
      5: () => bytes(4),
    };
    fields.push({ field: key >> 3, value: readers[key & 7]() });
  }
  return fields;
}
