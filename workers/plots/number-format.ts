/** Numbers as figures print them: a true minus sign, and powers of ten instead of long rows of zeros. */

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** Formats a value with `digits` significant digits: 0.4213, 1.000, 12346, 3.100×10⁻⁶. */
export function formatSignificant(value: number, digits: number): string {
  if (!Number.isFinite(value)) return formatNonFinite(value);
  const magnitude = Math.abs(value);
  if (magnitude !== 0 && (magnitude < 1e-4 || magnitude >= 1e6)) return formatScientific(value, digits - 1);
  return withMinus(magnitude >= 10 ** digits ? value.toFixed(0) : value.toPrecision(digits));
}

/** Labels of evenly spaced ticks, all with the same number of decimals, or the same power of ten. */
export function formatLinearTicks(ticks: readonly number[], step: number): string[] {
  const largest = Math.max(...ticks.map(Math.abs));
  const exponent = exponentOf(largest);
  const stepExponent = exponentOf(step);
  if (largest !== 0 && (largest >= 1e5 || largest < 1e-3)) {
    const decimals = Math.max(0, exponent - stepExponent);
    const label = (tick: number): string => `${(tick / 10 ** exponent).toFixed(decimals)}×10${superscript(exponent)}`;
    return ticks.map((tick) => (tick === 0 ? '0' : withMinus(label(tick))));
  }
  return ticks.map((tick) => withMinus(tick.toFixed(Math.max(0, -stepExponent))));
}

/** Labels of ticks on a logarithmic axis: plain numbers if all are short, else powers of ten. */
export function formatLogTicks(ticks: readonly number[]): string[] {
  if (ticks.every((tick) => tick >= 1e-3 && tick < 1e5)) return ticks.map(String);
  return ticks.map((tick) => {
    const mantissa = Number((tick / 10 ** exponentOf(tick)).toPrecision(3));
    return `${mantissa === 1 ? '' : `${mantissa}×`}10${superscript(exponentOf(tick))}`;
  });
}

/**
 * Exponent of the largest power of ten that is not above the magnitude, without the rounding of log10: exponentOf(1000)
 * is 3.
 */
export function exponentOf(value: number): number {
  return value === 0 ? 0 : Number(Math.abs(value).toExponential().split('e')[1]);
}

function formatScientific(value: number, decimals: number): string {
  const [mantissa = '', exponent = ''] = value.toExponential(decimals).split('e');
  return withMinus(`${mantissa}×10${superscript(Number(exponent))}`);
}

function formatNonFinite(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '∞' : '−∞';
}

function superscript(exponent: number): string {
  return String(exponent)
    .replaceAll('-', '⁻')
    .replaceAll(/\d/g, (digit) => SUPERSCRIPTS.charAt(Number(digit)));
}

function withMinus(text: string): string {
  return text.replace('-', '−');
}
