import { metricNamed, metricsOfTask, type NamedMetric } from '../../core/metrics/registry/index.ts';
import { glossary, type GlossaryEntry, type GlossaryKey } from './glossary.ts';

/**
 * The entry for a metric such as `val/ens_nll`; null where there is none. A likelihood's formula depends on the task, and a single member's
 * formula has its prediction in place of the ensemble's.
 */
export function entryOfMetric(metric: string, task: string): GlossaryEntry | null {
  const name = metric.slice(metric.lastIndexOf('/') + 1);
  const key = terms.find(([pattern]) => pattern.test(name))?.[1];
  if (key !== undefined) return glossary[key];
  const named = metricNamed(name, metricsOfTask(task)) ?? metricNamed(name);
  return named === null ? null : entryOf(named);
}

function entryOf({ subject, info }: NamedMetric): GlossaryEntry {
  const { title: name, meaning, reference } = info;
  return { name, meaning, reference, formula: subject === 'member' ? ofMember(info) : info.formula };
}

function ofMember({ formula, memberFormula }: NamedMetric['info']): string {
  const replaced = formula.replaceAll('μ̄', 'μ_m').replaceAll('p̄(', 'p_m(').replaceAll('p̄_', 'p_m,');
  return memberFormula ?? replaced.replaceAll('argmax p̄', 'argmax p_m');
}

/** Metrics of strategies. */
const terms: [RegExp, GlossaryKey][] = [
  [/^product_/, 'product'],
  [/coupling_loss$/, 'coupling-loss'],
  [/bytes_per_step$/, 'traffic'],
  [/weight_distance$/, 'weight-distance'],
  [/^base_/, 'adapted-base'],
  [/^velocity_/, 'velocity'],
];
