import { describe, expect, it } from 'vitest';
import {
  contrast,
  luminance,
  measurePairs,
  pairedTokens,
  parseRgb,
} from '../../../src-renderer/views/design/tokens.ts';

describe('the contrast of colours', () => {
  // WCAG 2.2 names the extremes; #777777 on white is the usual example of a grey that just fails 4.5.
  it.each([
    [[0, 0, 0], [255, 255, 255], 21],
    [[255, 255, 255], [255, 255, 255], 1],
    [[119, 119, 119], [255, 255, 255], 4.478],
    [[118, 118, 118], [255, 255, 255], 4.542],
  ] as const)('of %j and %j is %d, in any order', (one, other, ratio) => {
    expect(contrast(one, other)).toBeCloseTo(ratio, 3);
    expect(contrast(other, one)).toBe(contrast(one, other));
  });

  it('weighs the channels as WCAG 2.2 does', () => {
    expect([luminance([255, 0, 0]), luminance([0, 255, 0]), luminance([0, 0, 255])]).toEqual([0.2126, 0.7152, 0.0722]);
  });

  it('needs opaque colours as browsers write them', () => {
    expect(parseRgb('rgb(20, 24, 29)')).toEqual([20, 24, 29]);
    expect(() => parseRgb('rgba(20, 24, 29, 0.5)')).toThrow('is not an opaque colour');
  });
});

it('a pair below its limit is too little', () => {
  const colors = new Map(pairedTokens.map((token) => [token, [255, 255, 255] as const]));
  const withText = new Map<string, readonly [number, number, number]>(colors).set('text', [119, 119, 119]);
  const verdicts = measurePairs(withText).filter(({ color }) => color === 'text');
  expect(verdicts.map(({ on, suffices }) => [on, suffices])).toEqual([
    ['canvas', false],
    ['surface', false],
    ['raised', false],
  ]);
});
