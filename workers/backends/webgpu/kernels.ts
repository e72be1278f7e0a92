import * as core from '@tensorflow/tfjs-core';
import type { KernelFunc, NamedAttrMap, Rank, Tensor, Tensor3D, TensorInfo } from '@tensorflow/tfjs-core';
import { covered, describePool, type PoolAxis, refuseEmptyWindows } from '../pool-windows.ts';
import { replaceKernel, tensorOf } from '../contract.ts';
import { correctVolumes } from '../volumes.ts';

/**
 * Replaces the kernels that are wrong in TensorFlow.js 4.22 on webgpu. Call it after tfjs's own kernels are registered.
 */
export function correctKernels(): void {
  for (const name of ['Cumsum', 'Cumprod']) replace(name, cumulate);
  for (const name of ['Prod', 'ArgMax', 'ArgMin']) replace(name, withReducedShape);
  for (const [name, step] of Object.entries(stepsByAxis)) replace(name, (own) => axisByAxis(own, step));
  replace('Select', selectFlat);
  for (const name of ['MaxPool', 'AvgPool']) replace(name, refuseEmptyWindows);
  replace('AvgPoolGrad', divideByCovered);
  correctVolumes('webgpu');
}

/** With more axes, shaders do not compile or need a synchronous read. */
const mostAxes = 4;

function replace(kernelName: string, correct: (own: KernelFunc) => KernelFunc): void {
  replaceKernel('webgpu', kernelName, correct);
}

/**
 * tfjs reduces small tensors on the host, where it ignores `keepDims`; for a single axis it returns a scalar with an
 * axis.
 */
function withReducedShape(own: KernelFunc): KernelFunc {
  return (call) => {
    const { shape } = tensorOf(call.inputs.x);
    const { axis, keepDims } = call.attrs as { axis: number | number[]; keepDims?: boolean };
    const axes = core.util.parseAxisParam(axis, shape);
    const reduced =
      keepDims === true
        ? shape.map((size, i) => (axes.includes(i) ? 1 : size))
        : shape.filter((_, i) => !axes.includes(i));
    return { ...(own(call) as TensorInfo), shape: reduced };
  };
}

/** tfjs divides dy by the size of the whole window even where part of it is padding, which the pool's mean ignores. */
function divideByCovered(own: KernelFunc): KernelFunc {
  return (call) => {
    const { rows, columns } = describePool('avgPool', tensorOf(call.inputs.input).shape, call.attrs ?? {});
    const [tall, wide] = [factors(rows), factors(columns)];
    if ([...tall, ...wide].every((factor) => factor === 1)) return own(call);
    return core.tidy(() => {
      const correction = core.mul(core.tensor(tall, [1, tall.length, 1, 1]), core.tensor(wide, [1, 1, wide.length, 1]));
      const dy = core.mul(tensorOf(call.inputs.dy), correction);
      return core.engine().makeTensorFromTensorInfo(own({ ...call, inputs: { ...call.inputs, dy } }) as TensorInfo);
    });
  };
}

/** The size of each window, divided by the size of its part inside the image. */
function factors(axis: PoolAxis): number[] {
  return Array.from({ length: axis.outputs }, (_, output) => {
    const [first, last] = covered(axis, output);
    return axis.window / (last - first);
  });
}

/** tfjs's reverse cumulation caches a shader for the first length and uses it for all others. */
function cumulate(own: KernelFunc): KernelFunc {
  return (call) => {
    const { axis, exclusive, reverse } = call.attrs as { axis: number; exclusive: boolean; reverse: boolean };
    const x = tensorOf(call.inputs.x);
    if (!reverse && x.shape.length <= mostAxes) return own(call);
    return core.tidy(() => {
      const flat = aroundAxis(x, core.util.parseAxisParam(axis, x.shape)[0]);
      const ordered = reverse ? core.reverse(flat, 1) : flat;
      const attrs = { axis: 1, exclusive, reverse: false };
      const sums = core
        .engine()
        .makeTensorFromTensorInfo(own({ ...call, inputs: { x: ordered }, attrs }) as TensorInfo);
      return core.reshape(reverse ? core.reverse(sums, 1) : sums, x.shape);
    });
  };
}

/**
 * Applies a kernel that treats each axis separately to the middle axis of x, which stands for axis `axis` of a tensor
 * of rank `rank`.
 */
type Step = (x: Tensor3D, axis: number, attributes: NamedAttrMap, rank: number) => Tensor3D;

const unchanged = [0, 0];

const stepsByAxis: Record<string, Step> = {
  PadV2: (x, axis, { paddings, constantValue }) =>
    core.pad(x, middle(paddings as unknown as number[][], axis), constantValue as number),
  MirrorPad: (x, axis, { paddings, mode }) =>
    core.mirrorPad(x, middle(paddings as unknown as number[][], axis), mode as 'reflect'),
  Reverse: (x, axis, { dims }, rank) =>
    core.util.parseAxisParam(dims as number[], Array<number>(rank).fill(1)).includes(axis) ? core.reverse(x, 1) : x,
  Tile: (x, axis, { reps }) => core.tile(x, [1, (reps as number[])[axis], 1]),
};

function middle(paddings: number[][], axis: number): [number, number][] {
  return [unchanged, paddings[axis], unchanged] as [number, number][];
}

function axisByAxis(own: KernelFunc, step: Step): KernelFunc {
  return (call) => {
    const x = tensorOf(call.inputs.x);
    if (x.shape.length <= mostAxes) return own(call);
    return core.tidy(() =>
      x.shape.reduce<Tensor>((done, _, axis) => {
        const next = step(aroundAxis(done, axis), axis, call.attrs ?? {}, x.shape.length);
        return core.reshape(next, done.shape.with(axis, next.shape[1]));
      }, core.clone(x)),
    );
  };
}

/** x reshaped to `[N, L, R]`, where L is the axis and N and R are the products of the axes before and after it. */
function aroundAxis(x: Tensor, axis: number): Tensor3D {
  return core.reshape<Rank.R3>(x, [-1, x.shape[axis], core.util.sizeFromShape(x.shape.slice(axis + 1))]);
}

function selectFlat(own: KernelFunc): KernelFunc {
  return (call) => {
    const [condition, t, e] = [call.inputs.condition, call.inputs.t, call.inputs.e].map(tensorOf);
    if (t.shape.length <= mostAxes || condition.size !== t.size) return own(call);
    return core.tidy(() => {
      const inputs = { condition: core.reshape(condition, [-1]), t: core.reshape(t, [-1]), e: core.reshape(e, [-1]) };
      const chosen = core.engine().makeTensorFromTensorInfo(own({ ...call, inputs }) as TensorInfo);
      return core.reshape(chosen, t.shape);
    });
  };
}
