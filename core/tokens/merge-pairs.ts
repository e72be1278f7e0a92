/**
 * Byte-pair encoding of a word (Sennrich, Haddow and Birch, 2016): joins the neighbours that were joined first in training, from left to right, until no
 * pair is known.
 * @param rankOf the place of a pair among the learnt ones; undefined: not learnt
 */
export function mergePairs(
  symbols: readonly string[],
  rankOf: (first: string, second: string) => number | undefined,
): string[] {
  let parts = [...symbols];
  for (;;) {
    let best = Infinity;
    for (let i = 0; i + 1 < parts.length; i++) best = Math.min(best, rankOf(parts[i], parts[i + 1]) ?? Infinity);
    if (best === Infinity) return parts;
    parts = joined(parts, (first, second) => rankOf(first, second) === best);
  }
}

/** Joins all neighbours that `isPair` names, from left to right. */
function joined(parts: readonly string[], isPair: (first: string, second: string) => boolean): string[] {
  const result: string[] = [];
  for (let i = 0; i < parts.length; i++) {
    if (i + 1 < parts.length && isPair(parts[i], parts[i + 1])) result.push(parts[i] + parts[++i]);
    else result.push(parts[i]);
  }
  return result;
}
