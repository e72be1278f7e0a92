import type { HistogramProps } from '../../../charts/types.ts';

/** Values of the samples that were classified rightly and wrongly, as the groups of a histogram. */
export function splitByHit(values: Float64Array, chosen: Int32Array, targets: Int32Array): HistogramProps['groups'] {
  const isHit = (_: number, sample: number) => chosen[sample] === targets[sample];
  return [
    { label: 'right', color: 'accent', values: values.filter(isHit) },
    { label: 'wrong', color: 'bad', values: values.filter((value, sample) => !isHit(value, sample)) },
  ];
}
