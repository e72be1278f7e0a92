/**
 * TensorBoard's event files: TFRecords, each with one `Event` protobuf (tensorboard/compat/proto/event.proto):
 * `{ double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5; }`, and in summary.proto
 * `Summary { repeated Value value = 1; }`, `Value { string tag = 1; float simple_value = 2; }`.
 */

/** The first record of a file. @param wallTimeSeconds since 1970 */
export function encodeFileVersion(wallTimeSeconds: number): Buffer {
  return frameRecord(Buffer.concat([doubleField(1, wallTimeSeconds), bytesField(3, Buffer.from('brain.Event:2'))]));
}

/** @param wallTimeSeconds since 1970 @param scalars kept as 32-bit floats, as the format has it */
export function encodeScalars(
  wallTimeSeconds: number,
  step: number,
  scalars: readonly (readonly [tag: string, value: number])[],
): Buffer {
  const values = scalars.map(([tag, value]) =>
    bytesField(1, Buffer.concat([bytesField(1, Buffer.from(tag)), floatField(2, value)])),
  );
  return frameRecord(
    Buffer.concat([doubleField(1, wallTimeSeconds), integerField(2, step), bytesField(5, Buffer.concat(values))]),
  );
}

/** TFRecord: length (uint64), masked CRC32C of the length, data, masked CRC32C of the data; little-endian. */
function frameRecord(data: Buffer): Buffer {
  const header = Buffer.alloc(12);
  header.writeBigUInt64LE(BigInt(data.length), 0);
  header.writeUInt32LE(maskedCrc32c(header.subarray(0, 8)), 8);
  const footer = Buffer.alloc(4);
  footer.writeUInt32LE(maskedCrc32c(data));
  return Buffer.concat([header, data, footer]);
}

const WIRE_VARINT = 0;
const WIRE_64_BIT = 1;
const WIRE_BYTES = 2;
const WIRE_32_BIT = 5;

function integerField(field: number, value: number): Buffer {
  return Buffer.concat([key(field, WIRE_VARINT), varint(value)]);
}

function doubleField(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([key(field, WIRE_64_BIT), bytes]);
}

function floatField(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return Buffer.concat([key(field, WIRE_32_BIT), bytes]);
}

function bytesField(field: number, bytes: Buffer): Buffer {
  return Buffer.concat([key(field, WIRE_BYTES), varint(bytes.length), bytes]);
}

function key(field: number, wireType: number): Buffer {
  return varint(field * 8 + wireType);
}

/** @param value a non-negative integer */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** The Castagnoli polynomial, bits reversed (RFC 3720, section 12.1). */
const POLYNOMIAL = 0x82f63b78;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit += 1) remainder = (remainder >>> 1) ^ (remainder & 1 ? POLYNOMIAL : 0);
  return remainder;
});

/** CRC32C of the bytes (RFC 3720, appendix B.4), as an unsigned number. */
export function crc32c(bytes: Uint8Array): number {
  let remainder = 0xffffffff;
  for (const byte of bytes) remainder = TABLE[(remainder ^ byte) & 0xff] ^ (remainder >>> 8);
  return (remainder ^ 0xffffffff) >>> 0;
}

/** As TFRecord stores it: `rotate_right(crc, 15) + 0xa282ead8` (tensorflow/core/lib/hash/crc32c.h). */
export function maskedCrc32c(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
