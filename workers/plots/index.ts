/**
 * Static figures for papers and READMEs, described as data and rendered to SVG and PNG.
 *
 * @module Figures
 */

export type { Numbers, Range, ScaleKind } from './axis.ts';
export { BLUE, INK, MUTED, rankStyle, type RankStyle, VERMILLION } from './colors.ts';
export {
  type ComparisonBars,
  comparisonBars,
  type LearningCurves,
  learningCurves,
  type ReliabilityBins,
  reliabilityDiagram,
} from './ensemble-panels.ts';
export { type Figure, figure, type LegendCorner, type LegendPosition, type Panel } from './figure.ts';
export { band, bars, horizontalLine, line, points, text, verticalLine } from './marks.ts';
export type { BandMark, BarsMark, LineMark, Mark, MarkOptions, PointsMark, RuleMark, TextMark } from './marks.ts';
export { formatSignificant } from './number-format.ts';
export { renderPng } from './render-png.ts';
export { renderSvg } from './render-svg.ts';
export { saveFigure } from './render-png.ts';
