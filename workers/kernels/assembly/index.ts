/** Tutti's kernels for the wasm backend: they work on the memory of TensorFlow.js's own module, which they import. */
export { columnMoments, columnSlopes, combineColumns, scaleColumns } from './batch-normalization';
export { gradientOfRelu, gradientOfSigmoid, gradientOfTanh } from './activation-gradients';
export { addBias } from './bias';
export { depthwise, depthwiseFilterGradient, depthwiseInputGradient } from './depthwise';
export { clip, extreme } from './extremes';
export { gemm, gemmScratchBytes } from './gemm';
export { col2im, im2col } from './im2col';
export { crossEntropy, crossEntropyGradient, gaussianNll, gaussianNllGradient } from './losses';
export { avgPool, avgPoolGradient, maxPool, maxPoolGradient } from './pool';
export { maxAxis, sumAxis } from './reductions';
export { addTo, divideBy } from './sums';
export { swapAxes } from './transpose';
export { updateAdam, updateSgd } from './updates';
