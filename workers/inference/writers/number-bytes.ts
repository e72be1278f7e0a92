const [minus, point, zero] = [0x2d, 0x2e, 0x30];
const powersOfTen = Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);
const significantDigits = 9;
/** Values in between are written digit by digit. */
const [least, most] = [1e-6, 10 ** significantDigits];
/** How far a scaled value must be from the middle of two integers, in view of its rounding, for its digits to be certain. */
const safeDistance = 1e-5;

/** Bytes that {@link writeNumber} writes at most. */
export const mostNumberBytes = 24;

/** Integers in full, other values with nine significant digits, which tell all float32 values apart. */
export function numberText(value: number): string {
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(significantDigits)));
}

/** Writes {@link numberText} in a fraction of its time. @returns the position behind it */
export function writeNumber(target: Buffer, at: number, value: number): number {
  const size = Math.abs(value);
  if (!(size >= least && size < most)) return at + target.write(numberText(value), at, 'latin1');
  const integerDigits = digitsBeforePoint(size);
  let decimals = significantDigits - integerDigits;
  const scaled = size * powersOfTen[decimals];
  let digits = Math.round(scaled);
  const isCertain = Math.abs(scaled - Math.floor(scaled) - 0.5) > safeDistance && digits < most;
  if (!isCertain) return at + target.write(numberText(value), at, 'latin1');
  for (let tenth = Math.trunc(digits / 10); decimals > 0 && tenth * 10 === digits; tenth = Math.trunc(digits / 10)) {
    digits = tenth;
    decimals--;
  }
  if (value < 0) target[at++] = minus;
  const whole = decimals > significantDigits ? 0 : Math.trunc(digits / powersOfTen[decimals]);
  const end = writeDigits(target, at, whole, Math.max(1, integerDigits));
  if (decimals === 0) return end;
  target[end] = point;
  return writeDigits(target, end + 1, digits - whole * powersOfTen[decimals], decimals);
}

/** Writes an integer below 2³¹ with exactly `count` digits: such integers divide fastest. */
function writeDigits(target: Buffer, at: number, value: number, count: number): number {
  let rest = value | 0;
  for (let i = at + count - 1; i >= at; i--) {
    const tenth = (rest / 10) | 0;
    target[i] = zero + (rest - tenth * 10);
    rest = tenth;
  }
  return at + count;
}

/** Of 0.01, -1: the zeros behind the point count down. */
function digitsBeforePoint(size: number): number {
  let digits = 0;
  while (digits < significantDigits && size >= powersOfTen[digits]) digits++;
  if (digits > 0) return digits;
  let zeros = 0;
  while (size * powersOfTen[zeros + 1] < 1) zeros++;
  return -zeros;
}
