const steps = [0, 0.6, 0.9, 0.99];

/** The next stronger smoothing of a few; none after the strongest. */
export function nextSmoothing(smoothing: number): number {
  return steps.find((step) => step > smoothing) ?? 0;
}
