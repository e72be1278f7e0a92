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

/** Whether training points may lie at x. */
export function isCovered(x: number): boolean {
  return x >= 0 && x <= 10;
}

/** Draws the predictions of the ensemble on the test grid above, and the parts of its uncertainty below. */
export async function drawPredictions({ data, predictions, save, print }: FigureContext<unknown>): Promise<void> {
  if (data.test === undefined) return;
  const x = Array.from(data.test.features);
  const truth = Float32Array.from(data.test.targets);
  const ensemble = decompose(predictions);
  const covered = (values: Float32Array | Float64Array) => values.filter((_, i) => isCovered(x[i]));
  const error = meanSquaredError(covered(ensemble.mean), covered(truth));
  report(x, ensemble, print);
  const top = {
    title: `Ensemble MSE between 0 and 10: ${formatSignificant(error, 4)}`,
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
  const noise = x.map((value) => (isCovered(value) ? 0.3 * Math.sqrt(1 + value * value) : NaN));
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

/**
 * The noise and the disagreement that the ensemble reports, as standard deviations, where there are training points and
 * where there are none.
 */
function report(x: readonly number[], { aleatoric, epistemic }: Ensemble, print: (line: string) => void): void {
  const deviation = (variances: Float64Array, isMeant: (x: number) => boolean) => {
    const meant = variances.filter((_, i) => isMeant(x[i]));
    return formatSignificant(Math.sqrt(meant.reduce((sum, value) => sum + value, 0) / meant.length), 3);
  };
  const places = [
    { name: 'Between 0 and 10, where the data are', isMeant: isCovered },
    { name: 'Outside, where there are none', isMeant: (value: number) => !isCovered(value) },
  ];
  for (const { name, isMeant } of places)
    print(
      `${name}: noise (aleatoric) ${deviation(aleatoric, isMeant)}, disagreement ` +
        `(epistemic) ${deviation(epistemic, isMeant)}`,
    );
  print(
    'Look at plots/ensemble-predictions.png: outside, the members part and the grey band widens; the noise ' +
      'does not tell.',
  );
}
