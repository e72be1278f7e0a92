import { formatMetric } from '../text/numbers.ts';
import type { Calibration, Conformal, Postprocessing } from './schema.ts';

/** `5.0 %`. */
export const formatShare = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** `200 validation samples`, and how they were divided. */
export function describeFittedOn({ samples, split, parts }: Postprocessing['fittedOn']): string {
  const divided = parts ? `, ${parts.calibration} for the calibration and ${parts.others} for the rest` : '';
  return `${samples} ${split} samples${divided}`;
}

/** What was fitted, in words, and on what where that is not the mean: `temperature 1.250 after averaging; conformal aps for 90.0 %`. */
export function describeFit({ combination, calibration, conformal, outside, selective }: Postprocessing): string {
  const parts = [
    calibration === null ? 'no calibration' : describeCalibration(calibration),
    ...(conformal === null ? [] : [describeConformal(conformal)]),
    ...(outside === null ? [] : [`outside above ${outside.score} ${formatMetric(outside.threshold)}`]),
    ...(selective === null ? [] : [`answers from a confidence of ${formatMetric(selective.threshold)}`]),
  ];
  return `${combination === 'product' ? "on the members' product, " : ''}${parts.join('; ')}`;
}

function describeCalibration(calibration: Calibration): string {
  if (calibration.method === 'pooled-temperature') {
    return `temperature ${formatMetric(calibration.temperature)} after averaging`;
  }
  if (calibration.method === 'sigma') {
    return `standard deviations times ${calibration.scales.map(formatMetric).join(', ')}`;
  }
  if (calibration.method === 'labels') return describeLabels(calibration);
  if (calibration.method !== 'temperature') return calibration.method;
  const { temperatures, fit } = calibration;
  const shown = fit === 'shared' ? temperatures.slice(0, 1) : temperatures;
  return `${fit} temperature${shown.length === 1 ? '' : 's'} ${shown.map(formatMetric).join(', ')} before averaging`;
}

function describeLabels({ fit, scale }: Extract<Calibration, { method: 'labels' }>): string {
  if (fit === 'platt') return "Platt's scale and bias of each label";
  const temperatures = (fit === 'shared' ? scale.slice(0, 1) : scale).map((own) => formatMetric(1 / own));
  return `temperature${temperatures.length === 1 ? '' : 's'} ${temperatures.join(', ')} of the labels after averaging`;
}

function describeConformal(conformal: Conformal): string {
  const each = conformal.kind === 'sets' && conformal.isClassConditional ? ' of each class' : '';
  return `conformal ${conformal.method} for ${formatShare(1 - conformal.alpha)}${each}`;
}
