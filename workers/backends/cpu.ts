import '@tensorflow/tfjs-backend-cpu';
import * as core from '@tensorflow/tfjs-core';
import { tf } from '../tensorflow/tf.ts';
import { type Backend, replaceKernel, tensorOf } from './contract.ts';
import { correctVolumes } from './volumes.ts';
import type { MathBackendCPU } from '@tensorflow/tfjs-backend-cpu';
import type { KernelFunc, NamedAttrMap, NamedTensorInfoMap } from '@tensorflow/tfjs-core';
import { type PoolWindows, covered, describePool, refuseEmptyWindows } from './pool-windows.ts';

/** Plain JavaScript: the reference for the other backends. It has every op and is slow. */
export async function start(): Promise<Backend> {
  // Otherwise tfjs prints an advertisement for tfjs-node.
  tf.env().set('IS_TEST', true);
  await tf.setBackend('cpu');
  correctPools();
  correctVolumes('cpu');
  return { kind: 'cpu', description: 'cpu (plain JavaScript reference)', memoryBytes: () => tf.memory().numBytes };
}

/**
 * Replaces the cpu backend's pools over images `[B, H, W, C]`. tfjs 4.22 ignores NaN in maxima, and divides gradients
 * of means by the size of the whole window even where part of it is padding.
 */
export function correctPools(): void {
  const pools = { MaxPool: maxPool, MaxPoolGrad: maxPoolGradient, AvgPoolGrad: averagePoolGradient };
  for (const [name, pool] of Object.entries(pools)) replaceKernel('cpu', name, () => kernelOf(pool));
  replaceKernel('cpu', 'AvgPool', refuseEmptyWindows);
}

type Pool = (
  inputs: NamedTensorInfoMap,
  attributes: NamedAttrMap,
  read: (name: string) => Float32Array,
) => { shape: number[]; values: Float32Array };

function kernelOf(pool: Pool): KernelFunc {
  return ({ inputs, attrs, backend }) => {
    const cpu = backend as MathBackendCPU;
    const read = (name: string): Float32Array => cpu.readSync(tensorOf(inputs[name]).dataId) as Float32Array;
    const { shape, values } = pool(inputs, attrs ?? {}, read);
    return cpu.makeTensorInfo(shape, tensorOf(inputs.x ?? inputs.dy).dtype, values);
  };
}

/** The largest value of each window; NaN if the window has a NaN. */
const maxPool: Pool = (inputs, attributes, read) => {
  const x = read('x');
  const windows = describePool('maxPool', tensorOf(inputs.x).shape, attributes);
  const places = placesOfMaxima(x, windows);
  return { shape: windows.info.outShape, values: Float32Array.from(places, (place) => x[place]) };
};

/** Each window's dy goes to the first of its largest values, row by row, or to the first NaN. */
const maxPoolGradient: Pool = (inputs, attributes, read) => {
  const [x, dy] = [read('input'), read('dy')];
  const windows = describePool('maxPool', tensorOf(inputs.input).shape, attributes);
  const values = new Float32Array(x.length);
  for (const [i, place] of placesOfMaxima(x, windows).entries()) values[place] += dy[i];
  return { shape: windows.info.inShape, values };
};

/** Each value under a window gets dy divided by their number. */
const averagePoolGradient: Pool = (inputs, attributes, read) => {
  const dy = read('dy');
  const windows = describePool('avgPool', tensorOf(inputs.input).shape, attributes);
  const values = new Float32Array(core.util.sizeFromShape(windows.info.inShape));
  eachWindow(windows, (target, pixels) => {
    for (let c = 0; c < windows.info.inChannels; c++) {
      for (const pixel of pixels) values[pixel + c] += dy[target + c] / pixels.length;
    }
  });
  return { shape: windows.info.inShape, values };
};

function placesOfMaxima(x: Float32Array, windows: PoolWindows): Int32Array {
  const places = new Int32Array(core.util.sizeFromShape(windows.info.outShape));
  eachWindow(windows, (target, pixels) => {
    for (let c = 0; c < windows.info.inChannels; c++) {
      places[target + c] = pixels.reduce((best, pixel) => (isLarger(x[pixel + c], x[best + c]) ? pixel : best)) + c;
    }
  });
  return places;
}

function isLarger(value: number, other: number): boolean {
  return value > other || (Number.isNaN(value) && !Number.isNaN(other));
}

/**
 * Calls `visit` for each window, with the index of its output and of the pixels under it, row by row; both of the first
 * channel.
 */
function eachWindow({ info, rows, columns }: PoolWindows, visit: (target: number, pixels: number[]) => void): void {
  const { batchSize, inChannels: channels } = info;
  let target = 0;
  for (let image = 0; image < batchSize; image++) {
    for (let row = 0; row < rows.outputs; row++) {
      for (let column = 0; column < columns.outputs; column++, target += channels) {
        const [top, bottom] = covered(rows, row);
        const [left, right] = covered(columns, column);
        const pixels: number[] = [];
        for (let y = top; y < bottom; y++) {
          const line = (image * rows.inputs + y) * columns.inputs;
          for (let x = left; x < right; x++) pixels.push((line + x) * channels);
        }
        visit(target, pixels);
      }
    }
  }
}
