/** A kernel of `workers/kernels/assembly/recurrent/`, with the address of a `Sequence`. */
type StepKernel = (sequence: number, step: number) => void;

/** Exports of that folder. */
export interface RecurrentModule {
  /** Bytes that a `Sequence` takes. */
  sequenceBytes(): number;
  /** Completes a `Sequence` before the first step. */
  beginSequence(sequence: number): void;
  dropState: StepKernel;
  dropCarry: StepKernel;
  lstmStep: StepKernel;
  lstmStepGradient: StepKernel;
  gruGates: StepKernel;
  gruStep: StepKernel;
  gruStepGradient: StepKernel;
  gruGatesGradient: StepKernel;
  simpleStep: StepKernel;
  simpleStepGradient: StepKernel;
}
