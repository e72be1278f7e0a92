/** The kernels that exist in 128-bit and in 256-bit instructions. */
export { gemm, gemmScratchBytes, multiplyPacked, packedBytes, packMatrix } from './products/gemm';
export { gruGates, gruGatesGradient, gruStep, gruStepGradient } from './recurrent/gru';
export { lstmStep, lstmStepGradient } from './recurrent/lstm';
export { beginSequence, dropCarry, dropState, sequenceBytes } from './recurrent/sequence';
export { simpleStep, simpleStepGradient } from './recurrent/simple';
