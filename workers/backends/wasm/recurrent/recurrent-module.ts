/** A kernel of `workers/kernels/assembly/recurrent/`, with the address of a `Sequence`. */
type StepKernel = (sequence: number, step: number) => void;

/** Exports of that folder, and `copyRows`. */
export interface RecurrentModule {
  lstmStep: StepKernel;
  lstmStepGradient: StepKernel;
  gruGates: StepKernel;
  gruStep: StepKernel;
  gruStepGradient: StepKernel;
  gruGatesGradient: StepKernel;
  simpleStep: StepKernel;
  simpleStepGradient: StepKernel;
  copyRows(source: number, sourceRow: number, target: number, targetRow: number, rows: number, columns: number): void;
}
