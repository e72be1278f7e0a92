import type { ParallelGroup } from '../../../../charts/parallel/parallel-lines.ts';
import type { PointGroup } from '../../../../charts/scatter/types.ts';
import { type Brushes, isWithin } from '../../../../charts/brushes.ts';
import type { SubjectAxis } from './option-axes.ts';

/** The numbers of runs in charts: their places, from 1. */
export function numberOf(place: number): number {
  return place + 1;
}

/** A point for each run in its colour; faint where it is not selected. */
export function scatterGroups(
  labels: readonly string[],
  isSelected: (place: number) => boolean,
  x: SubjectAxis,
  y: SubjectAxis,
): PointGroup[] {
  return labels.map((label, place) => ({
    label,
    rank: place,
    symbol: 'dot',
    isFaded: !isSelected(place),
    ids: [numberOf(place)],
    x: [x.values[place]],
    y: [y.values[place]],
    errors: [y.errors?.[place] ?? NaN],
  }));
}

/** A line for each run in its colour; faint where it is not selected. */
export function lineGroups(
  labels: readonly string[],
  isSelected: (place: number) => boolean,
  axes: readonly SubjectAxis[],
): ParallelGroup[] {
  return labels.map((label, place) => ({
    label,
    rank: place,
    isFaded: !isSelected(place),
    opacity: isSelected(place) ? 0.9 : 0.15,
    width: 1.5,
    ids: [numberOf(place)],
    rows: [axes.map(({ values }) => values[place])],
  }));
}

/** The places that lie in the brush of every axis that has one. */
export function selectedPlaces(count: number, axes: readonly SubjectAxis[], brushes: Brushes): number[] {
  const placed = axes.map(({ id, values }) => ({ id, valueOf: (place: number) => values[place] }));
  return Array.from({ length: count }, (_, place) => place).filter((place) => isWithin(place, placed, brushes));
}
