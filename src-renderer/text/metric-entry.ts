import { glossary, type GlossaryEntry, type GlossaryKey } from './glossary.ts';

/**
 * The glossary's entry for a metric such as `val/ens_nll`; null where it has none. A likelihood's formula depends on the task, and a
 * single member's formula has its prediction in place of the ensemble's.
 */
export function entryOfMetric(metric: string, task: string): GlossaryEntry | null {
  const name = metric.slice(metric.lastIndexOf('/') + 1);
  const terms = task.endsWith('regression') ? [...gaussianTerms, ...metricTerms] : metricTerms;
  const key = terms.find(([pattern]) => pattern.test(name))?.[1];
  if (key === undefined) return null;
  return name.startsWith('member_') ? ofMember(glossary[key]) : glossary[key];
}

function ofMember(entry: GlossaryEntry): GlossaryEntry {
  const formula = entry.formula.replaceAll('μ̄', 'μ_m').replaceAll('p̄(', 'p_m(').replaceAll('p̄_', 'p_m,');
  return { ...entry, formula: formula.replaceAll('argmax p̄', 'argmax p_m') };
}

const gaussianTerms: [RegExp, GlossaryKey][] = [
  [/^avg_member_nll$/, 'gaussian-mean-member-nll'],
  [/^member_(\d+|\{rank\})_nll$/, 'gaussian-member-nll'],
  [/nll$/, 'gaussian-nll'],
];

const metricTerms: [RegExp, GlossaryKey][] = [
  [/^product_/, 'product'],
  [/coupling_loss$/, 'coupling-loss'],
  [/bytes_per_step$/, 'traffic'],
  [/weight_distance$/, 'weight-distance'],
  [/^base_/, 'adapted-base'],
  [/^velocity_/, 'velocity'],
  [/^avg_member_nll$/, 'mean-member-nll'],
  [/nll$/, 'nll'],
  [/^ambiguity$/, 'jensen-gap'],
  [/acc(uracy)?$/, 'accuracy'],
  [/ece$/, 'ece'],
  [/brier$/, 'brier'],
  [/disagreement$/, 'disagreement'],
  [/predictive_entropy$/, 'predictive-entropy'],
  [/mutual_information$/, 'mutual-information'],
  [/^avg_member_mse$/, 'mean-member-mse'],
  [/mse$/, 'mse'],
  [/ensemble_gain$/, 'ensemble-gain'],
  [/^ens_std$/, 'ensemble-std'],
  [/epistemic/, 'epistemic'],
  [/aleatoric/, 'aleatoric'],
];
