/** Writes docs/metrics.md from the registry of metrics. `--check` writes nothing and fails if the page is outdated. */
import { type MetricInfo, registry } from '../../core/metrics/registry/index.ts';
import { writeOrCheck } from './generated-page.ts';

const introduction = `# Metrics

Generated from \`core/metrics/registry\` by \`scripts/generate/metrics-page.ts\`. Edit the registry, not this page.

Every evaluation computes the standard metrics of the project's task. The others are computed if the option \`metrics.more\` names them
(\`--metrics.more auroc,f1\`), or if they are monitored. A project can [add its own](projects.md#metrics).

A split's sample weights and mask count: a mean over N samples is Σ w v / Σ w, a count of samples a sum of their weights, and a masked target (or one of weight 0) is left out of
every metric, whatever its prediction. With several targets or labels a sample, each is masked by itself.

A score judges one prediction: \`val/ens_nll\` is that of the ensemble, the mean of its members, and \`val/member_3_nll\` that of rank 3. Members that were trained jointly
[answer by their product of experts](guides/predict.md#how-members-combine), whose score is \`val/product_nll\`; \`val/ens_nll\` is then there for comparison. The other metrics are one
value for the ensemble, such as \`val/disagreement\`; a diversity gain is that of what answers, the product or the mean. After training, the same metrics judge the sets of
checkpoints on the test split. A metric that depends on a prediction that is not finite is NaN.

Every metric with a direction can be monitored (\`checkpoints.monitor\`, \`earlyStopping.monitor\`); with \`mode: auto\` the direction decides what is better. The
others need \`mode: min\` or \`max\`. A run whose monitored metric does not exist is refused before it starts.

Legend: \`M\` members, \`N\` samples (values, in regression), \`K\` classes; \`y\` the target; \`p_m\` member m's probabilities and \`p̄\` their mean; \`μ_m\` and \`σ²_m\`
member m's mean and variance and \`μ̄\` the mean of the \`μ_m\`. A sum without an index runs over the samples. Formulas are those of the ensemble; a member's have its
prediction instead. Logarithms are natural. [References](references.md#metrics) compares the values with PyTorch, torchmetrics and scikit-learn.
`;

const directions = { min: 'smaller is better', max: 'larger is better', none: 'neither is better' };
const header = '| Metric | | Direction | Meaning | Formula | Source |\n| --- | --- | --- | --- | --- | --- |';

const groups = Map.groupBy(registry, ({ tasks }) => tasks.join(', '));
const sections = [...groups].map(([tasks, metrics]) => `## ${tasks}\n\n${[header, ...metrics.map(row)].join('\n')}\n`);
const text = [introduction, ...sections].join('\n');
writeOrCheck('docs/metrics.md', text, 'core/metrics/registry', 'node scripts/generate/metrics-page.ts');

function row({ name, title, direction, isStandard, of, meaning, formula, reference }: MetricInfo): string {
  const recorded = of === 'ensemble' ? `\`${name}\`` : `\`ens_${name}\`, \`member_3_${name}\``;
  const cells = [recorded, title, directions[direction], meaning, `\`${formula}\``, reference];
  if (!isStandard) cells[1] += ' (on request)';
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
