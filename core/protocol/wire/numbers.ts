import { z } from 'zod';

/**
 * A number that may be NaN or infinite. JSON cannot represent these, so on disk and on the wire they are the strings
 * `"NaN"`, `"Infinity"` and `"-Infinity"` (as in proto3's JSON mapping). The schema converts them to numbers.
 */
export const realNumber = z.union([
  z.number(),
  z.nan(),
  z.literal([Infinity, -Infinity]),
  z.enum(['NaN', 'Infinity', '-Infinity']).transform(Number),
]);

/** Like `JSON.stringify`, but writes NaN and infinities in the form of {@link realNumber}. */
export function toJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, (_key, item: unknown) => spellNonFinite(item), indent);
}

function spellNonFinite(item: unknown): unknown {
  return typeof item === 'number' && !Number.isFinite(item) ? String(item) : item;
}
