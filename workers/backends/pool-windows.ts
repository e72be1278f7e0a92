import { backend_util, type KernelFunc, type NamedAttrMap } from '@tensorflow/tfjs-core';
import { tensorOf } from './contract.ts';

/**
 * Windows of a pool along one axis. Window `o` covers `window` positions from `o · stride − pad` on, clipped to the
 * image.
 */
export interface PoolAxis {
  readonly inputs: number;
  readonly outputs: number;
  readonly window: number;
  readonly stride: number;
  readonly pad: number;
}

/** A pool over images `[B, H, W, C]`. */
export interface PoolWindows {
  readonly info: backend_util.Conv2DInfo;
  readonly rows: PoolAxis;
  readonly columns: PoolAxis;
}

/**
 * The windows of a pool over images of this shape.
 *
 * @param attributes those of the pool's kernel
 * @throws Error if a window covers only padding: it has neither a largest value nor a mean
 */
export function describePool(op: string, images: readonly number[], attributes: NamedAttrMap): PoolWindows {
  const info = backend_util.computePool2DInfo(
    images as [number, number, number, number],
    attributes.filterSize as [number, number],
    attributes.strides as [number, number],
    1,
    attributes.pad as 'same',
    attributes.dimRoundingMode as 'floor',
  );
  const { top, left } = info.padInfo;
  const [inputs, outputs, window] = [info.inHeight, info.outHeight, info.filterHeight];
  const rows = { inputs, outputs, window, stride: info.strideHeight, pad: top };
  const columns = {
    inputs: info.inWidth,
    outputs: info.outWidth,
    window: info.filterWidth,
    stride: info.strideWidth,
    pad: left,
  };
  requireValues(op, 'rows', rows);
  requireValues(op, 'columns', columns);
  return { info, rows, columns };
}

function requireValues(op: string, axis: string, { inputs, outputs, window, stride, pad }: PoolAxis): void {
  const last = (outputs - 1) * stride - pad;
  if (outputs === 0 || inputs === 0 || (pad < window && last < inputs)) return;
  throw new Error(
    `${op}: among ${inputs} ${axis}, a window of ${window} with strides of ${stride} and padding of ${pad} covers ` +
      'nothing but padding. Pad by less than the window, and round the number of positions down.',
  );
}

/** The first position under window `output`, and the one after the last. */
export function covered({ inputs, window, stride, pad }: PoolAxis, output: number): [number, number] {
  const start = output * stride - pad;
  return [Math.max(start, 0), Math.min(start + window, inputs)];
}

/** Makes a backend's pool over images throw where {@link describePool} does; tfjs's pools return −∞ and NaN there. */
export function refuseEmptyWindows(own: KernelFunc): KernelFunc {
  return (call) => {
    describePool('A pool', tensorOf(call.inputs.x).shape, call.attrs ?? {});
    return own(call);
  };
}
