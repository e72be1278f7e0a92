/** Fewer ticks do not show how far apart values are. */
const fewest = 3;

/**
 * Ticks that fit an axis. A generator of round ticks, like d3's, takes its count as a hint and may give twice as many; this
 * lowers the hint until no more than about `most` come, then raises it until there are three.
 * @param ticksOf the ticks for a hint; more for a larger one
 */
export function fitTicks<T>(most: number, ticksOf: (hint: number) => T[], least = fewest): T[] {
  let hint = most;
  while (hint > 1 && ticksOf(hint).length > most + 1) hint -= 1;
  for (let ticks = ticksOf(hint); hint <= most + least + 1; ticks = ticksOf((hint += 1))) {
    if (ticks.length >= least) return ticks;
  }
  return ticksOf(hint);
}
