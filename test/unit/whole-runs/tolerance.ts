/** What a run may be off: a few times what PyTorch's own float32 is, as other sums are rounded in another order. */
export const tolerance = (float32: number): number => 10 * float32 + 1e-6;
