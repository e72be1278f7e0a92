/** The tolerance of a run: a few times PyTorch's float32 error, because sums in another order round differently. */
export const tolerance = (float32: number): number => 10 * float32 + 1e-6;
