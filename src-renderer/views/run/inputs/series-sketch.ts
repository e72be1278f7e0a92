import type { InputPart } from '../../../../core/ensemble/sample-inputs.ts';

type Series = Extract<InputPart, { kind: 'series' }>;

/** The lines of a series in a box of `width` by `height`, one for each channel. */
export interface SeriesSketch {
  /** SVG paths. Values that are not finite leave a gap. */
  paths: string[];
  /** The smallest and the largest finite value; null where there is none. */
  range: readonly [low: number, high: number] | null;
}

/** Lines that share one vertical scale, the smallest value at the bottom. */
export function sketchSeries({ steps, channels, values }: Series, width: number, height: number): SeriesSketch {
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return { paths: [], range: null };
  const low = finite.reduce((least, value) => Math.min(least, value), Infinity);
  const high = finite.reduce((most, value) => Math.max(most, value), -Infinity);
  const x = (step: number) => (steps === 1 ? width / 2 : (step / (steps - 1)) * width);
  const y = (value: number) => (high === low ? height / 2 : height - ((value - low) / (high - low)) * height);
  const pathOf = (channel: number): string => {
    let isDrawing = false;
    const points = Array.from({ length: steps }, (_, step) => {
      const value = values[step * channels + channel];
      if (!Number.isFinite(value)) {
        isDrawing = false;
        return '';
      }
      const command = isDrawing ? 'L' : 'M';
      isDrawing = true;
      return `${command}${x(step).toFixed(2)} ${y(value).toFixed(2)}`;
    });
    return points.join('');
  };
  return { paths: Array.from({ length: channels }, (_, channel) => pathOf(channel)), range: [low, high] };
}
