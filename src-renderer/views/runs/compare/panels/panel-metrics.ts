/** Metrics that most ask for, which stand first and fill the panels of an address that names none. */
const preferred = ['nll', 'mse', 'acc', 'ece', 'brier'].map((name) => `val/ens_${name}`);

/** Panels of an address that names none. */
const defaultPanels = 2;

/** The metrics on the validation split of the ensembles that at least two of the runs have; of a single run, all of them. */
export function comparableMetrics(namesOfRuns: readonly (readonly string[])[]): string[] {
  const counts = new Map<string, number>();
  for (const name of namesOfRuns.flat()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const least = Math.min(2, namesOfRuns.length);
  return [...counts]
    .filter(([name, count]) => count >= least && name.startsWith('val/') && !/member_\d+_/.test(name))
    .map(([name]) => name);
}

/** The metrics of the panels: those of the address that the runs have; without one, the monitored metric and what is usually seen beside it. */
export function panelMetrics(asked: readonly string[], known: readonly string[], monitored: string | null): string[] {
  const named = asked.filter((name) => known.includes(name));
  if (named.length > 0) return [...new Set(named)];
  const first = [monitored ?? '', ...preferred, ...known];
  return [...new Set(first.filter((name) => known.includes(name)))].slice(0, defaultPanels);
}

/** The items of a list in an address. */
export function listOf(text: string): string[] {
  return [...new Set(text.split(',').filter(Boolean))];
}

/** The places of hidden lines after the line at one place is gone. */
export function withoutPlace(hidden: ReadonlySet<number>, gone: number): Set<number> {
  return new Set([...hidden].filter((place) => place !== gone).map((place) => (place > gone ? place - 1 : place)));
}
