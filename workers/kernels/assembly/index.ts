/** Tutti's kernels for the wasm backend. They import the memory of TensorFlow.js's module. */
export { columnMoments, columnSlopes, combineColumns, scaleColumns } from './batch-normalization';
export { gradientOfRelu, gradientOfSigmoid, gradientOfTanh } from './elementwise/activation-gradients';
export { gelu, swish, tanh } from './elementwise/activations';
export { packBfloat16, unpackBfloat16 } from './elementwise/bfloat16';
export { addBias } from './elementwise/bias';
export { depthwise, depthwiseFilterGradient, depthwiseInputGradient } from './windows/depthwise';
export { clip, extreme } from './elementwise/extremes';
export { col2im, im2col } from './products/im2col';
export { normalizeRows, normalizeRowsGradient } from './layer-normalization';
export { crossEntropy, crossEntropyGradient, gaussianNll, gaussianNllGradient } from './losses';
export { avgPool, avgPoolGradient, maxPool, maxPoolGradient } from './windows/pool';
export { maxAxis, sumAxis } from './reductions';
export { addTo, copyRows, divideBy } from './rows';
export { swapAxes } from './transpose';
export { directLamb, updateLion, updateRmsprop } from './elementwise/more-updates';
export { updateAdam, updateSgd } from './elementwise/updates';
export * from './wide';
