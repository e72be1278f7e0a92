import { formatValue } from '../../../core/text/numbers.ts';
import type { PlotAxis } from '../scene/axes.ts';
import type { PlotLine, PointGroup, ScatterPlotProps } from './types.ts';
import { hundredths, type Place } from '../scene/plot.ts';

type Texts = Pick<ScatterPlotProps, 'groups' | 'x' | 'y' | 'idName'>;

/** `trial 17, complete: weightDecay 0.1, NLL 0.4101`; empty where no group has the point. */
export function readPoint({ groups, x, y, idName }: Texts, id: number): string {
  for (const { ids, label, ...columns } of groups) {
    const index = ids.indexOf(id);
    if (index === -1) continue;
    return (
      `${idName} ${id}, ${label}: ${x.label} ${spell(x, columns.x[index])}, ` +
      `${y.label} ${spell(y, columns.y[index])}`
    );
  }
  return '';
}

function spell(axis: PlotAxis, value: number): string {
  return nameOf(axis, value) ?? formatValue(value);
}

function nameOf({ ticks }: PlotAxis, value: number): string | undefined {
  return ticks?.find((tick) => tick.value === value)?.label;
}

export function tableColumns({ groups, x, y, idName }: Texts): string[] {
  return [idName, 'kind', x.label, y.label, ...(hasErrors(groups) ? ['standard error'] : [])];
}

/** One row for each point, by id. */
export function tableRows({ groups, x: axis }: Texts): (string | number)[][] {
  const withErrors = hasErrors(groups);
  return groups
    .flatMap(({ ids, label, x, y, errors }) =>
      ids.map((id, index) => ({
        id,
        cells: [label, nameOf(axis, x[index]) ?? x[index], y[index], ...(withErrors ? [errors?.[index] ?? NaN] : [])],
      })),
    )
    .toSorted((left, right) => left.id - right.id)
    .map(({ id, cells }) => [id, ...cells]);
}

function hasErrors(groups: readonly PointGroup[]): boolean {
  return groups.some(({ errors }) => errors !== undefined);
}

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
