/** Values of the samples that were classified rightly and wrongly, as the groups of a histogram. */
export function splitByHit(
  values: Float64Array,
  chosen: Int32Array,
  targets: Int32Array,
): { label: string; values: Float64Array }[] {
  const isHit = (_: number, sample: number) => chosen[sample] === targets[sample];
  return [
    { label: 'right', values: values.filter(isHit) },
    { label: 'wrong', values: values.filter((value, sample) => !isHit(value, sample)) },
  ];
}
