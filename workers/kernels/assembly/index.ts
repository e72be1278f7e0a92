/** Tutti's kernels for the wasm backend: they work on the memory of TensorFlow.js's own module, which they import. */
export { addBias, gradientOfRelu } from './bias';
export { gemm, gemmScratchBytes } from './gemm';
export { crossEntropy, crossEntropyGradient, gaussianNll, gaussianNllGradient } from './losses';
export { updateAdam, updateSgd } from './updates';
