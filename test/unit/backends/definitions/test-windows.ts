import fc from 'fast-check';
import { describe, it } from 'vitest';
import { tf, type Tensor } from '../../../../workers/tensorflow/tf.ts';
import { propertyOptions } from '../kernels/fill.ts';
import { draw, drawWithTies, expectLikeDefinition } from './compare.ts';
import * as reference from '../../../reference/windows.ts';

/** Sizes whose products coincide: 3 channels with a width of 1 are 3 values, as 1 with 3 are. */
const channels = fc.constantFrom(1, 2, 3, 4, 5, 8);

const axis = fc
  .record({
    window: fc.integer({ min: 1, max: 3 }),
    stride: fc.integer({ min: 1, max: 4 }),
    dilation: fc.integer({ min: 1, max: 3 }),
    beyond: fc.integer({ min: 0, max: 5 }),
    padding: fc.tuple(fc.nat(2), fc.nat(2)),
  })
  .map(({ padding, ...rest }) => ({
    ...rest,
    padding: padding.map((size) => Math.min(size, rest.window - 1)) as [number, number],
  }));

/**
 * Images or volumes, and the windows over them. TensorFlow.js refuses strides and dilations above 1 at the same time.
 */
function places(rank: number, paddings: readonly ('same' | 'valid' | 'explicit')[], mayDilate: boolean) {
  return fc
    .record({
      axes: fc.array(axis, { minLength: rank, maxLength: rank }),
      padding: fc.constantFrom(...paddings),
      isDilated: mayDilate ? fc.boolean() : fc.constant(false),
      batch: fc.integer({ min: 1, max: 2 }),
      channels,
      outputs: fc.constantFrom(1, 2, 3, 5, 8, 17),
    })
    .map(({ axes, padding, isDilated, batch, ...rest }) => {
      const windows: reference.Windows = {
        window: axes.map(({ window }) => window),
        strides: axes.map(({ stride }) => (isDilated ? 1 : stride)),
        dilations: axes.map(({ dilation }) => (isDilated ? dilation : 1)),
        padding: padding === 'explicit' ? axes.map((one) => one.padding) : padding,
      };
      const sizes = axes.map(({ window, beyond }, i) => (window - 1) * windows.dilations[i] + 1 + beyond);
      return { windows, sizes, batch, ...rest };
    });
}

const everyPadding = ['same', 'valid', 'explicit'] as const;

/** Paddings of images in TensorFlow.js's form. */
function imagePadding({ padding }: reference.Windows): 'same' {
  return (typeof padding === 'string' ? padding : [[0, 0], ...padding, [0, 0]]) as 'same';
}

interface WindowTests {
  /** The number of drawn shapes per op. */
  numRuns: number;
  /** Whether images may have explicit padding, which TensorFlow refuses. */
  padsExplicitly?: boolean;
  /** Whether the first of equal values gets a max pool's gradient. Otherwise values are distinct. */
  firstOfEqualsWins?: boolean;
}

/** Tests of the current backend's convolutions and pools. */
export function testWindows({ numRuns, padsExplicitly = true, firstOfEqualsWins = true }: WindowTests): void {
  const paddings = padsExplicitly ? everyPadding : (['same', 'valid'] as const);
  const drawPooled = firstOfEqualsWins ? drawWithTies : draw;
  const holds = <T>(cases: fc.Arbitrary<T>, check: (one: T) => Promise<void>): Promise<void> =>
    fc.assert(fc.asyncProperty(cases, check), { ...propertyOptions, numRuns });

  it('of conv2d', () =>
    holds(places(2, paddings, true), ({ windows, sizes, batch, channels, outputs }) => {
      const inputs = [draw([batch, ...sizes, channels], 1), draw([...windows.window, channels, outputs], 2)];
      const [strides, dilations] = [windows.strides, windows.dilations] as [number, number][];
      const apply = ([x, filter]: Tensor[]): Tensor =>
        tf.conv2d(x as never, filter as never, strides, imagePadding(windows), 'NHWC', dilations);
      return expectLikeDefinition(inputs, apply, ([x, filter]) => reference.convolution(x, filter, windows));
    }));

  it('of conv1d', () =>
    holds(places(1, ['same', 'valid'], true), ({ windows, sizes, batch, channels, outputs }) => {
      const inputs = [draw([batch, ...sizes, channels], 1), draw([...windows.window, channels, outputs], 2)];
      const { strides, dilations, padding } = windows;
      const apply = ([x, filter]: Tensor[]): Tensor =>
        tf.conv1d(x as never, filter as never, strides[0], padding as 'same', 'NWC', dilations[0]);
      return expectLikeDefinition(inputs, apply, ([x, filter]) => reference.convolution(x, filter, windows));
    }));

  it('of conv2dTranspose, whose gradients are a convolution', () =>
    holds(places(2, ['same', 'valid'], false), ({ windows, sizes, batch, channels, outputs }) => {
      const counts = reference.windowCounts(sizes, windows);
      const inputs = [draw([batch, ...counts, outputs], 1), draw([...windows.window, channels, outputs], 2)];
      const strides = windows.strides as [number, number];
      const shape = [batch, ...sizes, channels] as [number, number, number, number];
      const apply = ([x, filter]: Tensor[]): Tensor =>
        tf.conv2dTranspose(x as never, filter as never, shape, strides, windows.padding as 'same');
      return expectLikeDefinition(inputs, apply, ([x, filter]) =>
        reference.transposedConvolution(x, filter, sizes, windows),
      );
    }));

  it('of depthwiseConv2d', () =>
    holds(places(2, ['same', 'valid'], true), ({ windows, sizes, batch, channels, outputs }) => {
      const inputs = [
        draw([batch, ...sizes, channels], 1),
        draw([...windows.window, channels, Math.min(outputs, 3)], 2),
      ];
      const [strides, dilations] = [windows.strides, windows.dilations] as [number, number][];
      const apply = ([x, filter]: Tensor[]): Tensor =>
        tf.depthwiseConv2d(x as never, filter as never, strides, windows.padding as 'same', 'NHWC', dilations);
      return expectLikeDefinition(inputs, apply, ([x, filter]) => reference.depthwiseConvolution(x, filter, windows));
    }));

  it('of conv3d', () =>
    holds(places(3, ['same', 'valid'], false), ({ windows, sizes, batch, channels, outputs }) => {
      const [narrow, few] = [Math.min(channels, 3), Math.min(outputs, 3)];
      const inputs = [draw([batch, ...sizes, narrow], 1), draw([...windows.window, narrow, few], 2)];
      const strides = windows.strides as [number, number, number];
      const apply = ([x, filter]: Tensor[]): Tensor =>
        tf.conv3d(x as never, filter as never, strides, windows.padding as 'same');
      return expectLikeDefinition(inputs, apply, ([x, filter]) => reference.convolution(x, filter, windows));
    }));

  describe.each(['maxPool', 'avgPool'] as const)('of %s', (kind) => {
    const pool = kind === 'maxPool' ? reference.maxPool : reference.averagePool;

    it('over images', () =>
      holds(places(2, paddings, false), ({ windows, sizes, batch, channels }) => {
        const x = drawPooled([batch, ...sizes, channels], 1);
        const [size, strides] = [windows.window, windows.strides] as [number, number][];
        const apply = ([images]: Tensor[]): Tensor => tf[kind](images as never, size, strides, imagePadding(windows));
        return expectLikeDefinition([x], apply, ([values]) => pool(values, windows));
      }));

    it('over volumes', () =>
      holds(places(3, ['same', 'valid'], false), ({ windows, sizes, batch, channels }) => {
        const x = drawPooled([batch, ...sizes, channels], 1);
        const [size, strides] = [windows.window, windows.strides] as [number, number, number][];
        const apply = ([volumes]: Tensor[]): Tensor =>
          tf[`${kind}3d`](volumes as never, size, strides, windows.padding as 'same');
        return expectLikeDefinition([x], apply, ([values]) => pool(values, windows));
      }));
  });
}
