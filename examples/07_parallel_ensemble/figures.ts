import {
  bars,
  BLUE,
  type FigureContext,
  figure,
  formatSignificant,
  line,
  meanProbabilities,
  memberProbabilities,
  mostProbableClass,
  type Panel,
  predictiveEntropy,
  type Probabilities,
  VERMILLION,
} from 'tutti-ensembles';

const binCount = 20;

/**
 * Draws the predictive entropy of rightly and wrongly classified images, and the error without the most uncertain
 * images.
 */
export async function drawUncertainty({
  data,
  predictions,
  config,
  save,
  print,
}: FigureContext<unknown>): Promise<void> {
  const { targets } = data.test ?? data.validation ?? data.train;
  const { samples, width: classes, values, ranks } = predictions;
  const stack = { members: ranks.length, samples, classes, values: values[0] };
  const ensemble = judged(meanProbabilities(stack), targets);
  const member = judged(memberProbabilities(stack, 0), targets);
  const panels = [entropies(ensemble, Math.log(classes)), risk(ensemble, member)];
  const title = `Uncertainty of ${config.members} networks on MNIST: entropy of their mean prediction`;
  await save('predictive-entropy', figure({ title, width: 900, height: 380, rows: 1, columns: 2, panels }));
  print(
    `Mean predictive entropy of right and wrong images: ${meanWhere(ensemble, false)} and ${meanWhere(ensemble, true)}`,
  );
}

/** One value per image, shape `[N]` each. */
interface Judged {
  /** In nats. */
  entropy: Float64Array;
  isWrong: boolean[];
}

function judged(probabilities: Probabilities, targets: ArrayLike<number>): Judged {
  const { samples, classes, values } = probabilities;
  const predicted = mostProbableClass(probabilities);
  return {
    entropy: predictiveEntropy({ members: 1, samples, classes, values: Float32Array.from(values) }),
    isWrong: Array.from(predicted, (label, sample) => label !== targets[sample]),
  };
}

/** Shares of right and of wrong images by entropy, from 0 to log K. */
function entropies({ entropy, isWrong }: Judged, largest: number): Panel {
  const barWidth = largest / binCount;
  const positions = Array.from({ length: binCount }, (_, bin) => (bin + 0.5) * barWidth);
  const shares = (wrong: boolean): number[] => {
    const own = entropy.filter((_, sample) => isWrong[sample] === wrong);
    const counts = positions.map(
      (center) => own.filter((value) => Math.abs(Math.min(value, largest * 0.999) - center) <= barWidth / 2).length,
    );
    return counts.map((count) => count / Math.max(1, own.length));
  };
  const histogram = (wrong: boolean, color: string, label: string) =>
    bars({ positions, values: shares(wrong), barWidth, colors: [color], opacity: 0.55, label });
  return {
    xLabel: 'Predictive entropy (nats)',
    yLabel: 'Share of images',
    marks: [histogram(false, BLUE, 'Right'), histogram(true, VERMILLION, 'Wrong')],
  };
}

function risk(ensemble: Judged, member: Judged): Panel {
  const curve = (of: Judged, color: string, label: string) => line({ ...errorByCoverage(of), color, label, width: 2 });
  return {
    xLabel: 'Share of images kept, the most certain first',
    yLabel: 'Error among them',
    marks: [curve(member, VERMILLION, 'One network'), curve(ensemble, BLUE, 'Ensemble')],
  };
}

function errorByCoverage({ entropy, isWrong }: Judged): { x: number[]; y: number[] } {
  const order = Array.from(entropy.keys()).sort((first, second) => entropy[first] - entropy[second]);
  let wrong = 0;
  const errors = order.map((sample, i) => {
    wrong += Number(isWrong[sample]);
    return wrong / (i + 1);
  });
  // Skips the first few images, where a single wrong one would be an error of a third.
  const first = Math.ceil(order.length / 20);
  return { x: errors.slice(first).map((_, i) => (first + i + 1) / order.length), y: errors.slice(first) };
}

function meanWhere({ entropy, isWrong }: Judged, wrong: boolean): string {
  const own = entropy.filter((_, sample) => isWrong[sample] === wrong);
  return formatSignificant(own.reduce((sum, value) => sum + value, 0) / Math.max(1, own.length), 2);
}
