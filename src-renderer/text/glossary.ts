/** What a term of the field means: one sentence, the formula, and where it comes from. */
export interface GlossaryEntry {
  name: string;
  meaning: string;
  /** Legend: `M` members, `N` samples, `K` classes, `p_m` member m's probabilities, `p̄` their mean, `y` the label. */
  formula: string;
  reference: string;
}

const deepEnsembles = 'Lakshminarayanan et al., 2017, Simple and scalable predictive uncertainty estimation';

export const glossary = {
  nll: {
    name: 'NLL',
    meaning: 'How surprised the ensemble’s mean prediction is by the labels; smaller is better.',
    formula: '−1/N Σ log p̄(y)',
    reference: deepEnsembles,
  },
  'member-nll': {
    name: 'Mean member NLL',
    meaning: 'The members’ own negative log-likelihoods, averaged: what one member alone gives.',
    formula: '1/M Σ_m NLL(p_m)',
    reference: deepEnsembles,
  },
  ambiguity: {
    name: 'Ambiguity',
    meaning: 'What diversity buys: how much better the ensemble is than its members on average; never negative.',
    formula: '1/M Σ_m NLL(p_m) − NLL(p̄)',
    reference: 'Krogh and Vedelsby, 1995, Neural network ensembles, cross validation, and active learning',
  },
  accuracy: {
    name: 'Accuracy',
    meaning: 'Share of samples whose most probable class is the label.',
    formula: '1/N Σ [argmax p̄ = y]',
    reference: 'Standard',
  },
  ece: {
    name: 'ECE',
    meaning: 'Expected calibration error: how far confidence and accuracy lie apart, over 15 bins of confidence.',
    formula: 'Σ_b |b|/N · |accuracy(b) − confidence(b)|',
    reference: 'Guo et al., 2017, On calibration of modern neural networks',
  },
  brier: {
    name: 'Brier score',
    meaning: 'Squared distance between the probabilities and the label; smaller is better.',
    formula: '1/N Σ Σ_k (p̄_k − [y = k])²',
    reference: 'Brier, 1950, Verification of forecasts expressed in terms of probability',
  },
  disagreement: {
    name: 'Disagreement',
    meaning: 'Share of samples on which the members do not all choose the same class.',
    formula: '1/N Σ [argmax p_m differ]',
    reference: 'Fort et al., 2019, Deep ensembles: a loss landscape perspective',
  },
  'predictive-entropy': {
    name: 'Predictive entropy',
    meaning: 'All the uncertainty of the mean prediction: aleatoric and epistemic together.',
    formula: 'H(p̄) = −Σ_k p̄_k log p̄_k',
    reference: 'Depeweg et al., 2018, Decomposition of uncertainty in Bayesian deep learning',
  },
  'mutual-information': {
    name: 'Mutual information',
    meaning: 'The epistemic part of the uncertainty: large where members are sure, each of something else.',
    formula: 'H(p̄) − 1/M Σ_m H(p_m)',
    reference: 'Depeweg et al., 2018, Decomposition of uncertainty in Bayesian deep learning',
  },
  mse: {
    name: 'MSE',
    meaning: 'Mean squared error of the members’ mean prediction.',
    formula: '1/N Σ (μ̄ − y)²',
    reference: 'Standard',
  },
  'ensemble-gain': {
    name: 'Ensemble gain',
    meaning: 'How much smaller the ensemble’s squared error is than its members’ on average.',
    formula: '1/M Σ_m MSE(μ_m) − MSE(μ̄)',
    reference: 'Krogh and Vedelsby, 1995, Neural network ensembles, cross validation, and active learning',
  },
  epistemic: {
    name: 'Epistemic uncertainty',
    meaning: 'What the members do not know, and more data would teach: the spread of their means.',
    formula: '1/M Σ_m (μ_m − μ̄)²',
    reference: deepEnsembles,
  },
  aleatoric: {
    name: 'Aleatoric uncertainty',
    meaning: 'Noise in the data itself, which more data does not take away: the mean of the predicted variances.',
    formula: '1/M Σ_m σ²_m',
    reference: deepEnsembles,
  },
  product: {
    name: 'Product of experts',
    meaning:
      'Prediction from the mean of the members’ logits, not of their probabilities: the model that joint training trains.',
    formula: 'softmax(1/M Σ_m z_m), z_m the logits of member m',
    reference: 'Hinton, 2002, Training products of experts by minimizing contrastive divergence',
  },
  'coupling-loss': {
    name: 'Coupling loss',
    meaning: 'How far a member is from the ensemble on unlabelled samples, by the factor λ; small where all agree.',
    formula: 'λ · KL(p_m || p̄)',
    reference: 'Tutti, docs/options.md, strategy coupled',
  },
  traffic: {
    name: 'Traffic',
    meaning: 'Bytes that a rank sends and receives in a training step to exchange logits or probabilities.',
    formula: 'joint, mode reduce: 2·B·K floats of 4 bytes (B samples a batch, K classes)',
    reference: 'Tutti, docs/architecture.md, strategies',
  },
  'weight-distance': {
    name: 'Distance between ranks',
    meaning:
      'How far a rank’s weights had moved from the mean of all ranks when they were averaged, relative to that mean.',
    formula: '‖w_r − w̄‖ / ‖w̄‖',
    reference: 'Tutti, docs/architecture.md, hdet',
  },
  'adapted-base': {
    name: 'Adapted value',
    meaning:
      'The value in the middle of the ranks’ spread; each sync moves it towards that of ranks with smaller losses.',
    formula: 'rank r trains with base · ρ_r',
    reference: 'Tutti, docs/architecture.md, hdet',
  },
  velocity: {
    name: 'Velocity',
    meaning: 'Where the ranks’ losses push the base, smoothed over syncs; each sync adds a share of it to the base.',
    formula: 'v ← β·v + (1 − β)·Δ, base ← (1 − γ)·base + λ·v',
    reference: 'Tutti, docs/architecture.md, hdet',
  },
  rank: {
    name: 'Rank',
    meaning: 'What trains one member on one device, in a worker process of its own or shared; ranks count from 0.',
    formula: 'member m = rank m, seed = base seed + rank',
    reference: 'The message passing interface (MPI)',
  },
  wave: {
    name: 'Wave',
    meaning: 'With more workers than devices, ranks of one wave train at the same time, wave after wave.',
    formula: 'waves = ⌈members / (members per device · devices)⌉',
    reference: 'Tutti, docs/options.md, placement',
  },
  'joint-early-stopping': {
    name: 'Joint early stopping',
    meaning: 'All ranks stop at the same epoch, when the ensemble no longer improves, though single members may.',
    formula: 'stop once NLL(p̄) has not improved for `patience` evaluations',
    reference: 'Tutti, docs/options.md, earlyStopping',
  },
} satisfies Record<string, GlossaryEntry>;

export type GlossaryKey = keyof typeof glossary;

/** The entry of a metric's name, `val/ens_nll`; null where the glossary has none. */
export function entryOfMetric(metric: string): GlossaryEntry | null {
  const name = metric.slice(metric.lastIndexOf('/') + 1);
  const key = metricTerms.find(([pattern]) => pattern.test(name))?.[1];
  return key === undefined ? null : glossary[key];
}

const metricTerms: [RegExp, GlossaryKey][] = [
  [/^product_/, 'product'],
  [/coupling_loss$/, 'coupling-loss'],
  [/bytes_per_step$/, 'traffic'],
  [/weight_distance$/, 'weight-distance'],
  [/^base_/, 'adapted-base'],
  [/^velocity_/, 'velocity'],
  [/^(avg_member|mean_member|member_\d+)_nll$/, 'member-nll'],
  [/nll$/, 'nll'],
  [/ambiguity$/, 'ambiguity'],
  [/acc(uracy)?$/, 'accuracy'],
  [/ece$/, 'ece'],
  [/brier$/, 'brier'],
  [/disagreement$/, 'disagreement'],
  [/predictive_entropy$/, 'predictive-entropy'],
  [/mutual_information$/, 'mutual-information'],
  [/mse$/, 'mse'],
  [/ensemble_gain$/, 'ensemble-gain'],
  [/epistemic/, 'epistemic'],
  [/aleatoric/, 'aleatoric'],
];
