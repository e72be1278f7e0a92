import { answerSubject } from '../../../core/metrics/combination.ts';
import { combinationOf } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import { metricLabel } from '../../../core/text/numbers.ts';
import { type ComparedSubject, labelOf } from './compared-subject.ts';

/**
 * Metrics that most ask for: of members that answer by their product, those of the product, which other runs do not
 * have, before those of the mean.
 */
const preferred = [answerSubject.product, answerSubject.mean].flatMap((subject) =>
  ['nll', 'mse', 'acc', 'ece', 'brier'].map((name) => `val/${subject}_${name}`),
);

/** Panels of an address that names none. */
const defaultPanels = 2;

/**
 * The metrics on the validation split of the ensembles that at least two of the runs have; of a single run, all of
 * them. Those that most ask for come first, of these the ones that most runs have.
 */
export function comparableMetrics(namesOfRuns: readonly (readonly string[])[]): string[] {
  const counts = new Map<string, number>();
  for (const name of namesOfRuns.flat()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const least = Math.min(2, namesOfRuns.length);
  return [...counts]
    .filter(([name, count]) => count >= least && name.startsWith('val/') && !/member_\d+_/.test(name))
    .toSorted(([left, many], [right, few]) => {
      const [first, second] = [left, right].map((name) => preferred.indexOf(name));
      if (first === -1 || second === -1) return Number(first === -1) - Number(second === -1);
      return few - many || first - second;
    })
    .map(([name]) => name);
}

/**
 * The metrics of the panels: those of the address that the runs have; without one, the monitored metric and the first
 * of the known ones.
 */
export function panelMetrics(asked: readonly string[], known: readonly string[], monitored: string | null): string[] {
  const named = asked.filter((name) => known.includes(name));
  if (named.length > 0) return [...new Set(named)];
  const first = monitored !== null && known.includes(monitored) ? [monitored, ...known] : known;
  return [...new Set(first)].slice(0, defaultPanels);
}

/** Whose shown metrics do not judge their answers, a sentence; null: nobody's. */
export function describeOtherAnswers(subjects: readonly ComparedSubject[], metrics: readonly string[]): string | null {
  const ofProduct = subjects.filter(({ runs: [{ record }] }) => {
    return combinationOf(record.config.strategy, record.task) === 'product';
  });
  const ofMean = metrics.filter((metric) => metric.startsWith(`val/${answerSubject.mean}_`));
  if (ofProduct.length === 0 || ofMean.length === 0) return null;
  const names = ofProduct.map((subject) => labelOf(subject, subjects)).join(', ');
  return (
    `${ofMean.map(metricLabel).join(', ')}: of ${names} this judges the mean of the members, which answer by ` +
    'their product (such as product NLL).'
  );
}

/** The items of a list in an address. */
export function listOf(text: string): string[] {
  return [...new Set(text.split(',').filter(Boolean))];
}

/** The places of hidden lines after the line at one place is gone. */
export function withoutPlace(hidden: ReadonlySet<number>, gone: number): Set<number> {
  return new Set([...hidden].filter((place) => place !== gone).map((place) => (place > gone ? place - 1 : place)));
}
