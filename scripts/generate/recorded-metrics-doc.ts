/** Writes the section of docs/references.md about metrics: `npm run docs:metrics`. */
import {
  compareBinary,
  compareClassification,
  compareRegression,
  type Comparison,
} from '../../test/unit/metrics/compare-recorded.ts';
import { agreement, readRecorded } from '../../test/unit/metrics/recorded.ts';
import { writeReferenceSection } from './references-doc.ts';

const recorded = readRecorded();
const { torch, torchmetrics, mapie, scipy } = recorded.versions;
const learn = `scikit-learn ${recorded.versions['scikit-learn']}`;

/** Titles of the quantities, and the libraries whose values they are compared with. */
const rows: Record<string, [title: string, reference: string]> = {
  nll: ['NLL, of logits and probabilities', `PyTorch ${torch}`],
  acc: ['Accuracy', `torchmetrics ${torchmetrics}, ${learn}`],
  brier: ['Brier score', `PyTorch ${torch}, ${learn}`],
  ece: ['ECE, 15 bins', `MAPIE ${mapie}`],
  'ece of torchmetrics': ['ECE, 15 bins', `torchmetrics ${torchmetrics} (float32)`],
  'reliability bins': ['Reliability bins', learn],
  predictive_entropy: ['Predictive entropy', `PyTorch ${torch}, SciPy ${scipy}`],
  mutual_information: ['Mutual information', 'its formula in NumPy'],
  not_unanimous: ['Share not unanimous', 'its formula in NumPy'],
  mse: ['MSE', `torchmetrics ${torchmetrics}, ${learn}`],
  'gaussian nll': ['Gaussian NLL', `PyTorch ${torch}`],
  'mixture nll': ['NLL of the mixture of Gaussians', `PyTorch ${torch} (MixtureSameFamily)`],
  ens_std: ['Ensemble std', `PyTorch ${torch}`],
  aleatoric_variance: ['Aleatoric variance', `PyTorch ${torch}`],
  epistemic_variance: ['Epistemic variance', `PyTorch ${torch}`],
};

const introduction = `Metrics of recorded predictions (\`test/golden/metrics/make_metrics.py\`): 1 to 8 members, 1 to 33 samples, 2 to 10 classes, logits up to
1500 apart, probabilities of 0, 1 and on the edges of bins, ties, one sample, one class, NaN and infinities. The error is relative to values
of at least 1e-3; where the expected value is NaN or infinite, Tutti's must be the same.

| Metric | Reference | Values | Largest error |
| --- | --- | --- | --- |
`;

const comparisons: Comparison[] = [
  ...recorded.classification.flatMap(compareClassification),
  ...recorded.binary.flatMap(compareBinary),
  ...recorded.regression.flatMap(compareRegression),
];
const lines = Object.entries(rows).map(([quantity, [title, reference]]) => {
  const errors = comparisons
    .filter((comparison) => comparison.quantity === quantity)
    .map(({ found, expected }) => agreement(found, expected));
  const largest = Math.max(...errors);
  return `| ${title} | ${reference} | ${errors.length} | ${largest === 0 ? '0' : largest.toExponential(0)} |`;
});
writeReferenceSection('Metrics', introduction + lines.join('\n'));
