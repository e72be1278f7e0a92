import { hundredths, type Place } from '../scene/plot.ts';
import type { PlotLine } from './types.ts';

/** The SVG path of a line; of a stepped one with a corner at each point. A value that the axes cannot show is a gap. */
export function linePath({ x, y, isStep }: Pick<PlotLine, 'x' | 'y' | 'isStep'>, place: Place): string {
  let isDrawing = false;
  return x
    .map((value, index) => {
      const [left, top] = [hundredths(place.x(value)), hundredths(place.y(y[index]))];
      const wasDrawing = isDrawing;
      isDrawing = Number.isFinite(left + top);
      if (!isDrawing) return '';
      if (!wasDrawing) return `M${left} ${top}`;
      return isStep ? `H${left}V${top}` : `L${left} ${top}`;
    })
    .join('');
}
