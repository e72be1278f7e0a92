/**
 * Encodes what structured cloning passes of the values that this app sends as text. Bytes, `undefined` and numbers without a JSON form are
 * kept; values that structured cloning would silently lose are refused. Both functions also run within pages, from their source.
 */
export function encodeClone(value: unknown, toBase64: (bytes: Uint8Array) => string): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, plain: unknown) {
    const given = this[key];
    if (given instanceof Uint8Array) return { $bytes: toBase64(given) };
    if (given === undefined) return { $undefined: true };
    if (typeof given === 'number' && !Number.isFinite(given)) return { $number: String(given) };
    const isPlain = given === null || Array.isArray(given) || Object.getPrototypeOf(given) === Object.prototype;
    if (typeof given === 'object' ? isPlain : ['string', 'number', 'boolean'].includes(typeof given)) return plain;
    throw new Error(`An object could not be cloned: ${typeof given}`);
  });
}

export function decodeClone(text: string, fromBase64: (text: string) => Uint8Array): unknown {
  return JSON.parse(text, (_key, value: Record<string, unknown> | null) => {
    if (typeof value?.$bytes === 'string') return fromBase64(value.$bytes);
    if (typeof value?.$number === 'string') return Number(value.$number);
    return value?.$undefined === true ? undefined : value;
  });
}
