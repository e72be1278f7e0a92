/** The order of code points, which is also that of UTF-8; JavaScript's own order differs beyond U+FFFF. */
export function compareCodePoints(a: string, b: string): number {
  const [first, second] = [Array.from(a), Array.from(b)];
  for (let i = 0; i < Math.min(first.length, second.length); i++) {
    const difference = (first[i].codePointAt(0) ?? 0) - (second[i].codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return first.length - second.length;
}
