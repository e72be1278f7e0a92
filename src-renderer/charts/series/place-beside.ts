import { clamp } from '../points/columns.ts';

export interface Rectangle {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Between the chart, the box and the borders of the window, in pixels. */
const gap = 16;
const border = 4;

/**
 * Where a box beside a chart begins, in pixels of the window: to the right of it, else to its left, else below or above
 * it. It covers the chart only where no side has room.
 */
export function placeBeside(
  chart: Rectangle,
  box: { width: number; height: number },
  window: { width: number; height: number },
): { left: number; top: number } {
  const top = clamp(chart.top, border, Math.max(border, window.height - box.height - border));
  if (chart.right + gap + box.width + border <= window.width) return { left: chart.right + gap, top };
  if (chart.left - gap - box.width - border >= 0) return { left: chart.left - gap - box.width, top };
  const left = clamp(chart.left, border, Math.max(border, window.width - box.width - border));
  const isBelow = chart.bottom + gap + box.height + border <= window.height;
  const isAbove = chart.top - gap - box.height - border >= 0;
  if (!isBelow && isAbove) return { left, top: chart.top - gap - box.height };
  return { left, top: Math.min(chart.bottom + gap, Math.max(border, window.height - box.height - border)) };
}
