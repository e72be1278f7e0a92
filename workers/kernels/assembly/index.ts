/** Tutti's kernels for the wasm backend: they work on the memory of TensorFlow.js's own module, which they import. */
export { reluGradient } from './activation';
export { addBias } from './bias';
export { depthwise, depthwiseFilterGradient, depthwiseInputGradient } from './depthwise';
export { gemm, gemmScratchBytes } from './gemm';
export { col2im, im2col } from './im2col';
export { avgPoolGradient, maxPoolGradient } from './pool';
