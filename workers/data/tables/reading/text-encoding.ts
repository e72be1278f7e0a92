import { isUtf8 } from 'node:buffer';

/**
 * The one place that decides how the bytes of a user's text file become text: by the mark at their beginning, else by the encoding that the user
 * names, else as UTF-8, which is checked. Nothing is replaced by U+FFFD.
 */

const marks = [
  { encoding: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf-16le', bytes: [0xff, 0xfe] },
  { encoding: 'utf-16be', bytes: [0xfe, 0xff] },
] as const;
/** The most bytes that a mark has. */
export const mostMarkBytes = 3;
const lineFeed = 0x0a;
const utf8Remedy = 'Save the file as UTF-8';

/** The encoding that the first bytes of a file say, and the bytes of that mark; null: they say none. */
export function markOf(bytes: Uint8Array): { encoding: string; markBytes: number } | null {
  const mark = marks.find((own) => own.bytes.every((byte, i) => bytes[i] === byte));
  return mark === undefined ? null : { encoding: mark.encoding, markBytes: mark.bytes.length };
}

/**
 * A file's bytes as UTF-8 without a mark, and what their encoding was.
 * @param encoding that the user names; null: UTF-8. A mark wins.
 * @throws Error that names line and byte where the bytes are not text of that encoding
 */
export function decodeText(bytes: Buffer, file: string, encoding: string | null = null) {
  const mark = markOf(bytes);
  const chosen = mark?.encoding ?? encoding ?? 'utf-8';
  const decode = pieceDecoder(chosen, file);
  const text = Buffer.concat([decode(bytes.subarray(mark?.markBytes ?? 0)), decode(null)]);
  requireText(text, file, 0);
  return { text, encoding: chosen, hasMark: mark !== null };
}

/**
 * A function that turns the pieces of a file into UTF-8; null stands for its end. Pieces of UTF-8 are the same bytes, whose lines
 * {@link requireText} checks.
 * @throws Error for an encoding that is not known, and for bytes that it does not have
 */
export function pieceDecoder(encoding: string, file: string): (piece: Buffer | null) => Buffer {
  const empty = Buffer.alloc(0);
  if (/^utf-?8$/i.test(encoding)) return (piece) => piece ?? empty;
  const decoder = decoderOf(encoding, file);
  return (piece) => {
    try {
      return Buffer.from(piece === null ? decoder.decode() : decoder.decode(piece, { stream: true }));
    } catch (error) {
      throw new Error(`${file} is not whole text in ${encoding}. ${utf8Remedy}.`, { cause: error });
    }
  };
}

function decoderOf(encoding: string, file: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  } catch (error) {
    throw new Error(
      `${file}: the encoding ${JSON.stringify(encoding)} is not known. Examples are utf-8, utf-16le, windows-1252, iso-8859-2, shift_jis.`,
      { cause: error },
    );
  }
}

/**
 * Checks that whole lines are UTF-8 without a NUL character.
 * @param linesBefore lines of the file in front of them, for messages
 * @throws Error that names the line and the byte
 */
export function requireText(lines: Buffer, file: string, linesBefore: number): void {
  const isValid = isUtf8(lines);
  const zero = lines.indexOf(0);
  if (isValid && zero < 0) return;
  const wrong = isValid ? zero : wrongByte(lines);
  const at = zero < 0 ? wrong : Math.min(zero, wrong);
  const before = lines.subarray(0, at);
  const place = `${file}, line ${linesBefore + before.filter((byte) => byte === lineFeed).length + 1}`;
  const position = at - before.lastIndexOf(lineFeed);
  if (lines[at] === 0) {
    throw new Error(
      `${place}: byte ${position} of the line is 0, as in UTF-16 without a mark at the beginning. ${utf8Remedy}, or name its encoding (encoding: 'utf-16le').`,
    );
  }
  throw new Error(
    `${place}: byte ${position} of the line is 0x${lines[at].toString(16).toUpperCase()}, which is not UTF-8. ${utf8Remedy}, or name its encoding ` +
      "(encoding: 'windows-1252').",
  );
}

/** Position of the first byte that no UTF-8 has there: what lies in front of it is valid, apart from a character that it cuts short. */
function wrongByte(bytes: Buffer): number {
  let [valid, wrong] = [0, bytes.length];
  while (wrong - valid > 1) {
    const middle = (valid + wrong) >> 1;
    if (validStart(bytes.subarray(0, middle)) === null) wrong = middle;
    else valid = middle;
  }
  return validStart(bytes.subarray(0, wrong - 1)) ?? wrong - 1;
}

/** Length of the whole characters of a text that may end within one; null where it is wrong before. */
function validStart(bytes: Buffer): number | null {
  for (let cut = 0; cut <= Math.min(3, bytes.length); cut++) {
    const whole = bytes.subarray(0, bytes.length - cut);
    if (isUtf8(whole)) return whole.length;
  }
  return null;
}
