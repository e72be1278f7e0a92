import { decodeUtf8, encodeUtf8, textDecoder } from './host.ts';

/**
 * The one place that decides how the bytes of a user's text file become text: by the mark at their beginning, else by
 * the encoding that the user names, else as UTF-8, which is checked. Nothing is replaced by U+FFFD.
 */

const marks = [
  // In front of UTF-16, whose mark is the beginning of this one.
  { encoding: 'utf-32le', bytes: [0xff, 0xfe, 0, 0] },
  { encoding: 'utf-32be', bytes: [0, 0, 0xfe, 0xff] },
  { encoding: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf-16le', bytes: [0xff, 0xfe] },
  { encoding: 'utf-16be', bytes: [0xfe, 0xff] },
] as const;
/** The most bytes that a mark has. */
export const mostMarkBytes = 4;
const lineFeed = 0x0a;
const utf8Remedy = 'Save the file as UTF-8';
const checkedBytes = 2 ** 20;

/** How a file is read. */
export interface TextReading {
  /**
   * The encoding that the user names; null: none, so that it is UTF-8. A mark wins. Absent: the user cannot name one.
   */
  encoding?: string | null;
  /** Whether bytes are UTF-8; hosts may have a faster way (`node:buffer`). */
  isUtf8?: (bytes: Uint8Array) => boolean;
}

/** The encoding that the first bytes of a file say, and the bytes of that mark; null: they say none. */
export function markOf(bytes: Uint8Array): { encoding: string; markBytes: number } | null {
  const mark = marks.find((own) => own.bytes.every((byte, i) => bytes[i] === byte));
  return mark === undefined ? null : { encoding: mark.encoding, markBytes: mark.bytes.length };
}

/**
 * The text of a file, without its mark.
 * @param file names the file in errors
 * @throws Error that names line and byte where the bytes are not text
 */
export const decodeText = (bytes: Uint8Array, file: string): string => decodeUtf8(asUtf8(bytes, file).text);

/**
 * A file's bytes as UTF-8 without a mark, and what their encoding was.
 * @throws Error that names line and byte where the bytes are not text of that encoding
 */
export function asUtf8(bytes: Uint8Array, file: string, reading: TextReading = {}) {
  const mark = markOf(bytes);
  const chosen = mark?.encoding ?? reading.encoding ?? 'utf-8';
  const content = bytes.subarray(mark?.markBytes ?? 0);
  const text = isNamedUtf8(chosen) ? content : encodeUtf8(decodeWhole(content, chosen, file));
  requireText(text, file, 0, reading);
  return { text, encoding: chosen, hasMark: mark !== null };
}

function decodeWhole(bytes: Uint8Array, encoding: string, file: string): string {
  const decode = pieceDecoder(encoding, file);
  return decode(bytes) + decode(null);
}

export const isNamedUtf8 = (encoding: string): boolean => /^utf-?8$/i.test(encoding);

/**
 * A function that turns the pieces of a file into text; null stands for its end.
 * @throws Error for an encoding that is not known, and for bytes that it does not have
 */
export function pieceDecoder(encoding: string, file: string): (piece: Uint8Array | null) => string {
  const decoder = decoderOf(encoding, file);
  return (piece) => {
    try {
      return piece === null ? decoder.decode() : decoder.decode(piece, { stream: true });
    } catch (error) {
      throw new Error(`${file} is not whole text in ${encoding}. ${utf8Remedy}.`, { cause: error });
    }
  };
}

/** Names that Python and others give to encodings that the web calls otherwise. */
const otherNames: Readonly<Record<string, string>> = { 'mac-roman': 'macintosh', macroman: 'macintosh' };

function decoderOf(encoding: string, file: string): ReturnType<typeof textDecoder> {
  if (/^utf[-_]?32/i.test(encoding)) throw new Error(`${file} is text in UTF-32, which is not read. ${utf8Remedy}.`);
  const name = encoding.toLowerCase().replaceAll('_', '-');
  try {
    return textDecoder(otherNames[name] ?? encoding);
  } catch (error) {
    throw new Error(
      `${file}: the encoding ${JSON.stringify(encoding)} is not known. Examples are utf-8, utf-16le, ` +
        'windows-1252, iso-8859-2, macintosh, shift_jis.',
      { cause: error },
    );
  }
}

/**
 * Checks that whole lines are UTF-8 without a NUL character.
 * @param linesBefore lines of the file in front of them, for messages
 * @throws Error that names the line and the byte
 */
export function requireText(
  lines: Uint8Array,
  file: string,
  linesBefore: number,
  { encoding, isUtf8 = isUtf8Here }: TextReading,
): void {
  const isValid = isUtf8(lines);
  const zero = lines.indexOf(0);
  if (isValid && zero < 0) return;
  const wrong = isValid ? zero : wrongByte(lines);
  const at = zero < 0 ? wrong : Math.min(zero, wrong);
  const before = lines.subarray(0, at);
  const place = `${file}, line ${linesBefore + before.filter((byte) => byte === lineFeed).length + 1}`;
  const position = at - before.lastIndexOf(lineFeed);
  const naming = (example: string): string =>
    encoding === undefined ? `${utf8Remedy}.` : `${utf8Remedy}, or name its encoding (encoding: '${example}').`;
  if (lines[at] === 0) {
    if (isLikeUtf32(lines)) decoderOf('utf-32', file);
    const cause = 'as in UTF-16 without a mark at the beginning';
    throw new Error(`${place}: byte ${position} of the line is 0, ${cause}. ${naming('utf-16le')}`);
  }
  const byte = lines[at].toString(16).toUpperCase();
  throw new Error(`${place}: byte ${position} of the line is 0x${byte}, which is not UTF-8. ${naming('windows-1252')}`);
}

/**
 * Whether bytes without a mark are text in UTF-32: of each four, the highest one is 0, and the next one at most 16, as
 * no character is beyond U+10FFFF.
 */
export function isLikeUtf32(bytes: Uint8Array): boolean {
  const length = Math.min(bytes.length - (bytes.length % 4), 1000);
  const areLike = (highest: number, next: number): boolean => {
    for (let at = 0; at < length; at += 4) if (bytes[at + highest] !== 0 || bytes[at + next] > 16) return false;
    return length > 0;
  };
  return areLike(3, 2) || areLike(0, 1);
}

/** Whether bytes are UTF-8, in parts that end between characters. */
function isUtf8Here(bytes: Uint8Array): boolean {
  for (let start = 0; start < bytes.length;) {
    const end = endOfCharacter(bytes, start + checkedBytes);
    try {
      decodeUtf8(bytes.subarray(start, end));
    } catch {
      return false;
    }
    start = end;
  }
  return true;
}

/** The end of a character at or a little before `end`. */
function endOfCharacter(bytes: Uint8Array, end: number): number {
  if (end >= bytes.length) return bytes.length;
  let at = end;
  while (end - at < 3 && (bytes[at] & 0xc0) === 0x80) at--;
  return at;
}

/**
 * Position of the first byte that no UTF-8 has there: what lies in front of it is valid, apart from a character that it
 * cuts short.
 */
function wrongByte(bytes: Uint8Array): number {
  let [valid, wrong] = [0, bytes.length];
  while (wrong - valid > 1) {
    const middle = (valid + wrong) >> 1;
    if (validStart(bytes.subarray(0, middle)) === null) wrong = middle;
    else valid = middle;
  }
  return validStart(bytes.subarray(0, wrong - 1)) ?? wrong - 1;
}

/** Length of the whole characters of a text that may end within one; null where it is wrong before. */
function validStart(bytes: Uint8Array): number | null {
  for (let cut = 0; cut <= Math.min(3, bytes.length); cut++) {
    const whole = bytes.subarray(0, bytes.length - cut);
    if (isUtf8Here(whole)) return whole.length;
  }
  return null;
}
