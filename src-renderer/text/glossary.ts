/** What a term means: one sentence, its formula, and its source. The metrics' entries are those of `core/metrics/registry`. */
export interface GlossaryEntry {
  name: string;
  meaning: string;
  formula: string;
  reference: string;
}

/** An entry of the glossary, or a text without a formula. */
export type Help = string | GlossaryEntry;

/** The help as one text, for screen readers. */
export function helpText(help: Help): string {
  return typeof help === 'string' ? help : `${help.meaning} ${help.formula} (${help.reference})`;
}

const strategies = 'Tutti, docs/architecture/strategies.md';

export const glossary = {
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
  'best-epoch': {
    name: 'Best epoch',
    meaning:
      'The epoch after which the monitored metric was best so far; a later value replaces it only if it is better.',
    formula: 'argmin over epochs of the metric, argmax where larger is better',
    reference: 'Tutti, docs/options.md, earlyStopping.monitor',
  },
  patience: {
    name: 'Patience',
    meaning:
      'Early stopping ends the run after this many evaluations in a row without an improvement of the monitored metric.',
    formula: 'stop when evaluations since the best = patience',
    reference: 'Prechelt, 1998, Early stopping – but when?',
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
