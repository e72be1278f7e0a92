/** What a term means: one sentence, its formula, and its source. */
export interface GlossaryEntry {
  name: string;
  meaning: string;
  /**
   * Legend: `M` members, `N` samples (values, in regression), `K` classes; `y` the target; `p_m` member m's probabilities and `p̄` their
   * mean; `μ_m` and `σ²_m` member m's mean and variance and `μ̄` the mean of the `μ_m`. A sum without an index runs over the samples.
   */
  formula: string;
  reference: string;
}

const deepEnsembles = 'Lakshminarayanan et al., 2017, Simple and scalable predictive uncertainty estimation';
const decomposition = 'Depeweg et al., 2018, Decomposition of uncertainty in Bayesian deep learning';
const kroghVedelsby = 'Krogh and Vedelsby, 1994, Neural network ensembles, cross validation, and active learning';
const strategies = 'Tutti, docs/architecture/strategies.md';

export const glossary = {
  nll: {
    name: 'NLL',
    meaning: 'Negative log-likelihood of the labels under the prediction, in nats; smaller is better.',
    formula: '−1/N Σ log p̄(y)',
    reference: deepEnsembles,
  },
  'gaussian-nll': {
    name: 'NLL',
    meaning: 'Negative log-likelihood of the targets under the predicted density, in nats; smaller is better.',
    formula: '−1/N Σ log(1/M Σ_m Normal(y; μ_m, σ²_m))',
    reference: deepEnsembles,
  },
  'gaussian-member-nll': {
    name: 'NLL',
    meaning: 'Negative log-likelihood of the targets under one member’s Gaussian, in nats; smaller is better.',
    formula: '−1/N Σ log Normal(y; μ_m, σ²_m)',
    reference: deepEnsembles,
  },
  'mean-member-nll': {
    name: 'Mean member NLL',
    meaning: 'The mean of the members’ NLLs: what one member alone achieves on average.',
    formula: '−1/(M·N) Σ_m Σ log p_m(y)',
    reference: deepEnsembles,
  },
  'gaussian-mean-member-nll': {
    name: 'Mean member NLL',
    meaning: 'The mean of the members’ NLLs: what one member alone achieves on average.',
    formula: '−1/(M·N) Σ_m Σ log Normal(y; μ_m, σ²_m)',
    reference: deepEnsembles,
  },
  'jensen-gap': {
    name: 'Jensen gap',
    meaning: 'How much smaller the ensemble’s NLL is than its members’ on average. It is never negative.',
    formula: '1/M Σ_m NLL_m − NLL',
    reference: 'Abe et al., 2022, Deep ensembles work, but are they necessary?',
  },
  accuracy: {
    name: 'Accuracy',
    meaning: 'Share of samples whose most probable class is the label.',
    formula: '1/N Σ [argmax p̄ = y]',
    reference: 'Standard',
  },
  ece: {
    name: 'ECE',
    meaning:
      'Expected calibration error: the gap between confidence and accuracy, averaged over 15 bins of confidence.',
    formula: 'Σ_b |b|/N · |accuracy(b) − confidence(b)|',
    reference: 'Guo et al., 2017, On calibration of modern neural networks',
  },
  brier: {
    name: 'Brier score',
    meaning: 'Mean squared distance between the probabilities and the label; smaller is better.',
    formula: '1/N Σ Σ_k (p̄_k − [y = k])²',
    reference: 'Brier, 1950, Verification of forecasts expressed in terms of probability',
  },
  disagreement: {
    name: 'Disagreement',
    meaning: 'Share of samples for which the members do not all choose the same class.',
    formula: '1/N Σ [argmax p_m differ]',
    reference: 'Fort et al., 2019, Deep ensembles: a loss landscape perspective',
  },
  'predictive-entropy': {
    name: 'Predictive entropy',
    meaning: 'The total uncertainty of the mean prediction, aleatoric and epistemic.',
    formula: '1/N Σ H(p̄), H(p) = −Σ_k p_k log p_k',
    reference: decomposition,
  },
  'mutual-information': {
    name: 'Mutual information',
    meaning: 'The epistemic part of the uncertainty: large where members are confident in different classes.',
    formula: '1/N Σ (H(p̄) − 1/M Σ_m H(p_m))',
    reference: decomposition,
  },
  mse: {
    name: 'MSE',
    meaning: 'Mean squared error of the prediction; an ensemble predicts the mean of its members’ means.',
    formula: '1/N Σ (μ̄ − y)²',
    reference: 'Standard',
  },
  'mean-member-mse': {
    name: 'Mean member MSE',
    meaning: 'The mean of the members’ MSEs: what one member alone achieves on average.',
    formula: '1/(M·N) Σ_m Σ (μ_m − y)²',
    reference: 'Standard',
  },
  'ensemble-gain': {
    name: 'Ensemble gain',
    meaning: 'How much smaller the ensemble’s MSE is than its members’ on average. It is never negative.',
    formula: '1/M Σ_m MSE_m − MSE',
    reference: kroghVedelsby,
  },
  'ensemble-std': {
    name: 'Ensemble standard deviation',
    meaning: 'How far the members’ means spread, averaged over the samples; 0 for a single member.',
    formula: '1/N Σ √(1/(M − 1) Σ_m (μ_m − μ̄)²)',
    reference: deepEnsembles,
  },
  epistemic: {
    name: 'Epistemic uncertainty',
    meaning: 'The variance of the members’ means: what the members do not know and more data would teach.',
    formula: '1/N Σ 1/(M − 1) Σ_m (μ_m − μ̄)²',
    reference: deepEnsembles,
  },
  aleatoric: {
    name: 'Aleatoric uncertainty',
    meaning: 'The mean of the predicted variances: noise in the data, which more data does not reduce.',
    formula: '1/N Σ 1/M Σ_m σ²_m',
    reference: deepEnsembles,
  },
  product: {
    name: 'Product of experts',
    meaning: 'Predicts from the mean of the members’ logits instead of their probabilities, as joint training does.',
    formula: 'softmax(1/M Σ_m z_m), z_m the logits of member m',
    reference: 'Hinton, 2002, Training products of experts by minimizing contrastive divergence',
  },
  'coupling-loss': {
    name: 'Coupling loss',
    meaning: 'How far a member is from the ensemble on unlabelled samples; small where all members agree.',
    formula: '1/B Σ KL(p_m ‖ p̄), over the B samples of a batch',
    reference: strategies,
  },
  traffic: {
    name: 'Traffic',
    meaning: 'Bytes of logits or probabilities that a rank sends and receives in a training step.',
    formula: 'sum of the ranks’ arrays: 2·B·K floats of 4 bytes (B samples a batch, K classes)',
    reference: strategies,
  },
  'weight-distance': {
    name: 'Distance between ranks',
    meaning: 'How far a rank’s weights were from the mean of all ranks before a sync averaged them.',
    formula: '‖w_r − w̄‖ / ‖w̄‖',
    reference: strategies,
  },
  'adapted-base': {
    name: 'Adapted value',
    meaning:
      'The centre of the values that the ranks train with; each sync moves it towards those with smaller losses.',
    formula: 'rank r trains with base · ρ_r',
    reference: strategies,
  },
  velocity: {
    name: 'Velocity',
    meaning: 'The direction in which the ranks’ losses move the base, smoothed over the syncs.',
    formula: 'v ← β·v + (1 − β)·δ, base ← (1 − γ)·base + λ·v',
    reference: strategies,
  },
  rank: {
    name: 'Rank',
    meaning: 'The number, from 0, of a training process, which trains one member on one device.',
    formula: 'member m = rank m, seed = base seed + rank',
    reference: 'The message passing interface (MPI)',
  },
  wave: {
    name: 'Wave',
    meaning: 'Ranks that train at the same time. With more workers than devices, the waves train one after another.',
    formula: 'waves = ⌈members / (members per device · devices)⌉',
    reference: 'Tutti, docs/options.md, placement',
  },
} satisfies Record<string, GlossaryEntry>;

export type GlossaryKey = keyof typeof glossary;
