/** A string, or one of the numbers that Python writes although JSON has none. */
const tokens = /"(?:[^"\\]|\\.)*"|-?Infinity|NaN/g;

/**
 * Reads JSON as Python writes it; NaN and infinities become the texts 'NaN', 'Infinity' and '-Infinity'.
 * @throws SyntaxError when it is no JSON
 */
export function parsePythonJson(text: string): unknown {
  return JSON.parse(text.replace(tokens, (token) => (token.startsWith('"') ? token : `"${token}"`)));
}

/** Writes JSON as Python does, with NaN and infinities as bare words. */
export function toPythonJson(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return `[${value.map(toPythonJson).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}: ${toPythonJson(member)}`)
    .join(', ')}}`;
}
