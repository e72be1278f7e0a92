import {
  aleatoricVariance,
  band,
  BLUE,
  type Dataset,
  epistemicVariance,
  type FigureContext,
  figure,
  formatSignificant,
  INK,
  line,
  type Mark,
  meanSquaredError,
  type MemberOutputs,
  MUTED,
  points,
  rankStyle,
  VERMILLION,
} from 'tutti-ensembles';

/** Draws the predictions of the ensemble on the test grid above, and the parts of its uncertainty below. */
export async function drawPredictions({ data, predictions, save, print }: FigureContext<unknown>): Promise<void> {
  if (data.test === undefined) return;
  const x = Array.from(data.test.features);
  const truth = Float32Array.from(data.test.targets);
  const ensemble = decompose(predictions);
  const error = meanSquaredError(ensemble.mean, truth);
  const memberErrors = ensemble.members.map((member) => meanSquaredError(member, truth));
  report(memberErrors, error, ensemble, print);
  const top = {
    title: `Ensemble MSE ${formatSignificant(error, 4)}`,
    yLabel: 'y',
    yRange: [-15, 15] as [number, number],
    legend: 'bottom-left' as const,
    marks: predictionMarks(x, truth, ensemble, predictions.ranks, data.train),
  };
  const bottom = {
    title: 'What the uncertainty is made of',
    xLabel: 'x',
    yLabel: 'Standard deviation',
    legend: 'top-left' as const,
    marks: uncertaintyMarks(x, ensemble),
  };
  const title = `Heteroscedastic deep ensemble, ${predictions.ranks.length} members`;
  await save(
    'ensemble-predictions',
    figure({ title, width: 900, height: 820, rows: 2, columns: 1, panels: [top, bottom] }),
  );
}

type Ensemble = ReturnType<typeof decompose>;

/** The prediction interval, the function, the members and their mean, and the training points. */
function predictionMarks(
  x: number[],
  truth: Float32Array,
  ensemble: Ensemble,
  ranks: readonly number[],
  train: Dataset,
): Mark[] {
  const halfWidth = ensemble.total.map((variance) => 1.96 * Math.sqrt(variance));
  return [
    band({
      x,
      lower: ensemble.mean.map((mean, i) => mean - halfWidth[i]),
      upper: ensemble.mean.map((mean, i) => mean + halfWidth[i]),
      color: INK,
      opacity: 0.14,
      label: '95 % prediction interval',
    }),
    line({ x, y: truth, color: MUTED, dash: [2, 3], label: 'x·sin(x)' }),
    ...ensemble.members.map((y, member) =>
      line({ x, y, color: rankStyle(member).color, width: 1, opacity: 0.6, label: `Member ${ranks[member]}` }),
    ),
    line({ x, y: ensemble.mean, width: 2.5, label: 'Ensemble mean' }),
    points({ x: train.features, y: train.targets, size: 6, color: VERMILLION, label: 'Training data' }),
  ];
}

/** Standard deviations of the prediction, and of the noise inside the training interval. */
function uncertaintyMarks(x: number[], { total, aleatoric, epistemic }: Ensemble): Mark[] {
  const noise = x.map((value) => (value >= 0 && value <= 10 ? 0.3 * Math.sqrt(1 + value * value) : NaN));
  return [
    line({ x, y: total.map(Math.sqrt), width: 2.5, label: 'Total' }),
    line({ x, y: aleatoric.map(Math.sqrt), color: BLUE, dash: [6, 3], label: 'Aleatoric' }),
    line({ x, y: epistemic.map(Math.sqrt), color: VERMILLION, dash: [6, 3], label: 'Epistemic' }),
    line({ x, y: noise, color: '#009e73', dash: [2, 3], label: 'True noise' }),
  ];
}

/** Mean prediction and the parts of its variance, each [N]. */
function decompose({ ranks, samples, values: [means, variances] }: MemberOutputs) {
  const stack = (values: Float32Array) => ({ members: ranks.length, samples, values });
  const members = ranks.map((_, member) => means.subarray(member * samples, (member + 1) * samples));
  const mean = Float64Array.from(
    { length: samples },
    (_, i) => members.reduce((sum, m) => sum + m[i], 0) / ranks.length,
  );
  const aleatoric = aleatoricVariance(stack(variances));
  const epistemic = epistemicVariance(stack(means));
  return { members, mean, aleatoric, epistemic, total: aleatoric.map((value, i) => value + epistemic[i]) };
}

function report(
  memberErrors: number[],
  error: number,
  { aleatoric, epistemic }: { aleatoric: Float64Array; epistemic: Float64Array },
  print: (line: string) => void,
): void {
  const average = (values: ArrayLike<number>) =>
    Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;
  memberErrors.forEach((mse, member) => print(`Member ${member}   MSE ${formatSignificant(mse, 4)}`));
  print(`Ensemble   MSE ${formatSignificant(error, 4)} (gain ${formatSignificant(average(memberErrors) - error, 4)})`);
  print(
    `Variance   aleatoric ${formatSignificant(average(aleatoric), 4)}, epistemic ${formatSignificant(average(epistemic), 4)}`,
  );
}
