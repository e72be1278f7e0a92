const siPrefixes = ['', 'k', 'M', 'G', 'T'];

/** A rate or count with at most 3 significant digits and an SI prefix: `1.23k`. */
export function formatCount(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  // The exponent after rounding: 999.9 is 1k.
  const exponent = Number(value.toExponential(2).split('e')[1]);
  const prefix = Math.min(Math.max(Math.floor(exponent / 3), 0), siPrefixes.length - 1);
  return `${Number((value / 1000 ** prefix).toPrecision(3))}${siPrefixes[prefix]}`;
}
