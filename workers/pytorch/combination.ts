import { exceedsFloat32 } from '../../core/ensemble/arithmetic.ts';
import type { EnsembleDescription } from '../../core/ensemble/schema.ts';
import { answersBy, type Combination } from '../../core/metrics/combination.ts';
import { risingPieces } from '../../core/postprocessing/calibration/isotonic.ts';
import type { Calibration, IsotonicMap } from '../../core/postprocessing/schema.ts';
import type { TargetMeaning } from '../../core/preprocessing/schema.ts';

/** What decides how the members' outputs become the ensemble's. */
export interface Combining extends Pick<EnsembleDescription, 'task' | 'combination'> {
  target: TargetMeaning | undefined;
  calibration: Calibration | null;
}

/** The lines of Python that combine `outputs`, the members' outputs `[N, M, ..., K]`, and return a dictionary. */
export function combinationLines(described: Combining): string[] {
  const { task, target } = described;
  const combining = { ...described, combination: answersBy(described) };
  switch (task) {
    case 'classification':
      return classLines(['logits = outputs[0]'], combining);
    case 'binary':
      return classLines(['logits = torch.cat([torch.zeros_like(outputs[0]), outputs[0]], -1)'], combining);
    case 'ordinal':
      return classLines(ordinalLogits, combining);
    case 'multi-label':
      return labelLines(combining);
    case 'poisson-regression':
      return [
        ...valueLines('outputs[0].exp()'),
        ...(combining.combination === 'product' ? ['results["mean"] = outputs[0].mean(1).exp()'] : []),
        'results["aleatoric"] = results["mean"].sqrt()',
        ...deviationLines(combining),
        'return results',
      ];
    case 'regression':
    case 'heteroscedastic-regression':
    case 'quantile-regression':
      return [
        ...valueLines('outputs[0]'),
        ...(task === 'heteroscedastic-regression' ? ['results["aleatoric"] = outputs[1].mean(1).sqrt()'] : []),
        ...inOwnUnit(target),
        ...(task === 'quantile-regression' ? [] : deviationLines(combining)),
        'return results',
      ];
  }
}

/** log P(y = k) = Σ_{j<k} log σ(z_j) + log(1 − σ(z_k)). */
const ordinalLogits = [
  'onward = F.logsigmoid(outputs[0])',
  'reached = onward.cumsum(-1) - onward',
  'logits = torch.cat([reached + F.logsigmoid(-outputs[0]), onward.sum(-1, keepdim=True)], -1)',
];

function classLines(logits: readonly string[], { combination, calibration }: Combining): string[] {
  return [
    ...logits,
    ...memberCalibration(calibration),
    'logs = F.log_softmax(logits, -1)',
    'members = logs.exp()',
    'average = members.mean(1)',
    `mean = ${poolCalibration(combination, calibration)}`,
    'entropy = torch.special.entr(mean).sum(-1)',
    'information = torch.special.entr(average).sum(-1) - torch.special.entr(members).sum(-1).mean(1)',
    'return {"mean": mean, "members": members, "entropy": entropy, "mutual_information": information.clamp(min=0)}',
  ];
}

function memberCalibration(calibration: Calibration | null): string[] {
  if (calibration?.method !== 'temperature') return [];
  const temperatures = `torch.tensor(${JSON.stringify(calibration.temperatures)}, device=logits.device)`;
  return [`logits = logits / ${temperatures}.reshape(-1, *[1] * (logits.ndim - 2))`];
}

/** The calibrated answer, from the members' `logs` and their `average`. */
function poolCalibration(combination: Combination, calibration: Calibration | null): string {
  const isProduct = combination === 'product';
  const logs = isProduct ? 'F.log_softmax(logs.mean(1), -1)' : '(logs.logsumexp(1) - math.log(logs.shape[1]))';
  const constant = (values: readonly unknown[]): string => `logs.new_tensor(${JSON.stringify(values)})`;
  switch (calibration?.method) {
    case 'pooled-temperature':
      return `F.softmax(${logs} / ${calibration.temperature}, -1)`;
    case 'vector':
      return `F.softmax(${logs} * ${constant(calibration.scale)} + ${constant(calibration.bias)}, -1)`;
    case 'dirichlet':
      return `F.softmax(${logs} @ ${constant(calibration.weights)}.T + ${constant(calibration.bias)}, -1)`;
    case 'isotonic':
      return `isotonic(${logs}.exp(), ${JSON.stringify(calibration.classes.map(piecesOf))})`;
    default:
      return isProduct ? `${logs}.exp()` : 'average';
  }
}

function labelLines({ combination, calibration }: Combining): string[] {
  const isProduct = combination === 'product';
  const plain = isProduct ? 'torch.sigmoid(outputs[0].mean(1))' : 'average';
  return [
    'entropy_of = lambda p: torch.special.entr(p) + torch.special.entr(1 - p)',
    'members = torch.sigmoid(outputs[0])',
    'average = members.mean(1)',
    ...(calibration?.method === 'labels' ? calibratedLabels(combination, calibration) : [`mean = ${plain}`]),
    'information = (entropy_of(average) - entropy_of(members).mean(1)).clamp(min=0)',
    'return {"mean": mean, "members": members, "entropy": entropy_of(mean), "mutual_information": information}',
  ];
}

/** The number of members cancels in the difference of logarithms of sums. */
function calibratedLabels(
  combination: Combination,
  { scale, bias }: Extract<Calibration, { method: 'labels' }>,
): string[] {
  const ofMean = 'F.logsigmoid(outputs[0]).logsumexp(1) - F.logsigmoid(-outputs[0]).logsumexp(1)';
  const constant = (values: readonly number[]): string => `average.new_tensor(${JSON.stringify(values)})`;
  return [
    `logits = ${combination === 'product' ? 'outputs[0].mean(1)' : ofMean}`,
    `mean = torch.sigmoid(${constant(scale)} * logits + ${constant(bias)})`,
  ];
}

/** A map's first value, and the starts, lengths and rises of its pieces, as the library's `isotonic` takes them. */
function piecesOf({ from, to }: IsotonicMap): [number, number[], number[], number[]] {
  const pieces = risingPieces({ from, to });
  return [to[0], pieces.map(({ start }) => start), pieces.map(({ length }) => length), pieces.map(({ rise }) => rise)];
}

/**
 * mean + std · value for means and quantiles, std · value for deviations, which are computed before the shift: float32
 * has no digits left for them after it. Where it has too few even for the values, these are float64.
 */
function inOwnUnit(target: TargetMeaning | undefined): string[] {
  if (target?.kind !== 'values') return [];
  const [of, type] = exceedsFloat32(target) ? ['.double()', ', dtype=torch.float64'] : ['', ''];
  const constant = (values: readonly number[]): string => `members.new_tensor(${JSON.stringify(values)}${type})`;
  return [
    `mean, std = ${constant(target.mean)}, ${constant(target.std)}`,
    `shifted = {name: mean + std * results[name]${of} for name in ("mean", "members")}`,
    'results = {name: (std * value).to(value.dtype) for name, value in results.items()} | shifted',
  ];
}

function valueLines(members: string): string[] {
  return [
    `members = ${members}`,
    'results = {"mean": members.mean(1), "members": members, "epistemic": members.std(1, unbiased=False)}',
  ];
}

/**
 * Both deviations times the scale that was fitted for each target, and that of the answer: of the mixture the root of
 * the sum of their squares. A product is one distribution, so the members' deviation is no part of its own.
 */
function deviationLines({ combination, calibration }: Combining): string[] {
  const scaled = [
    `scales = members.new_tensor(${JSON.stringify(calibration?.method === 'sigma' ? calibration.scales : [])})`,
    'results |= {name: scales * results[name] for name in ("aleatoric", "epistemic") if name in results}',
  ];
  const own = 'results.get("aleatoric", torch.zeros_like(results["epistemic"])) ** 2';
  return [
    ...(calibration?.method === 'sigma' ? scaled : []),
    `variance = ${combination === 'product' ? own : `results["epistemic"] ** 2 + ${own}`}`,
    'results["standard_deviation"] = variance.sqrt()',
  ];
}
