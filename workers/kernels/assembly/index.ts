/** Tutti's kernels for the wasm backend. They import the memory of TensorFlow.js's module. */
export { columnMoments, columnSlopes, combineColumns, scaleColumns } from './batch-normalization';
export { gradientOfRelu, gradientOfSigmoid, gradientOfTanh } from './elementwise/activation-gradients';
export { addBias } from './elementwise/bias';
export { depthwise, depthwiseFilterGradient, depthwiseInputGradient } from './windows/depthwise';
export { clip, extreme } from './elementwise/extremes';
export { gemm, gemmScratchBytes, multiplyPacked, packedBytes, packMatrix } from './products/gemm';
export { col2im, im2col } from './products/im2col';
export { crossEntropy, crossEntropyGradient, gaussianNll, gaussianNllGradient } from './losses';
export { avgPool, avgPoolGradient, maxPool, maxPoolGradient } from './windows/pool';
export { gruGates, gruGatesGradient, gruStep, gruStepGradient } from './recurrent/gru';
export { lstmStep, lstmStepGradient } from './recurrent/lstm';
export { simpleStep, simpleStepGradient } from './recurrent/simple';
export { maxAxis, sumAxis } from './reductions';
export { copyRows } from './rows';
export { addTo, divideBy } from './sums';
export { swapAxes } from './transpose';
export { directLamb, updateLion, updateRmsprop } from './elementwise/more-updates';
export { updateAdam, updateSgd } from './elementwise/updates';
