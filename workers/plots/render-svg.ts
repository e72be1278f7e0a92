import { GRID, INK, MUTED, PAPER } from './colors.ts';
import type { Figure } from './figure.ts';
import {
  FIGURE_TITLE_SIZE,
  LABEL_SIZE,
  layOut,
  PANEL_TITLE_SIZE,
  type PanelLayout,
  TICK_GAP,
  TICK_SIZE,
} from './layout.ts';
import { renderLegend } from './legend.ts';
import { type Place, renderMark } from './render-marks.ts';
import { coordinate, escapeXml, FONT_FAMILY, textElement } from './text.ts';

/** Renders a figure as a stand-alone SVG document. The same figure always gives the same text. */
export function renderSvg(figure: Figure): string {
  const { width, height, title } = figure;
  const name = title ?? figure.panels.flatMap((panel) => panel.title ?? panel.yLabel ?? []).join(', ');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
      `role="img" font-family="${FONT_FAMILY}" fill="${INK}">`,
    `<title>${escapeXml(name)}</title>`,
    `<rect width="${width}" height="${height}" fill="${PAPER}"/>`,
    ...(title === undefined ? [] : [figureTitle(title, width)]),
    ...layOut(figure).map(renderPanel),
    '</svg>\n',
  ].join('\n');
}

function figureTitle(title: string, width: number): string {
  return textElement(width / 2, 12 + FIGURE_TITLE_SIZE, title, {
    size: FIGURE_TITLE_SIZE,
    anchor: 'middle',
    bold: true,
  });
}

function renderPanel(layout: PanelLayout): string {
  const { panel, left, top, width, height, xAxis, yAxis } = layout;
  const place: Place = {
    width,
    height,
    x: (value) => xAxis.fraction(value) * width,
    y: (value) => (1 - yAxis.fraction(value)) * height,
  };
  // A nested svg clips to its box without an id, which would have to be unique among the figures of a page.
  return [
    `<g transform="translate(${coordinate(left)} ${coordinate(top)})">`,
    renderGrid(layout, place),
    `<svg width="${coordinate(width)}" height="${coordinate(height)}" overflow="hidden">`,
    // resvg crashes on a clipped group outside the image: this keeps a part of it inside.
    `<rect width="${coordinate(width)}" height="${coordinate(height)}" fill-opacity="0"/>`,
    ...panel.marks.map((mark) => renderMark(mark, place)).filter((mark) => mark !== ''),
    '</svg>',
    `<path d="M0 0V${coordinate(height)}H${coordinate(width)}" fill="none" stroke="${MUTED}"/>`,
    renderTickLabels(layout, place),
    ...renderTitles(layout),
    renderLegend(panel.marks, panel.legend ?? 'auto', place),
    '</g>',
  ]
    .filter((line) => line !== '')
    .join('\n');
}

function renderGrid({ panel, xAxis, yAxis }: PanelLayout, { width, height, x, y }: Place): string {
  const hasCategories = panel.marks.some((mark) => mark.kind === 'bars' && mark.labels.length > 0);
  const across = yAxis.ticks.map(({ value }) => `M0 ${coordinate(y(value))}H${coordinate(width)}`);
  const upward = hasCategories
    ? []
    : xAxis.ticks.map(({ value }) => `M${coordinate(x(value))} 0V${coordinate(height)}`);
  const path = [...across, ...upward].join('');
  return path === '' ? '' : `<path d="${path}" fill="none" stroke="${GRID}"/>`;
}

function renderTickLabels({ xAxis, yAxis, xTickSize }: PanelLayout, { height, x, y }: Place): string {
  const below = xAxis.ticks.map(({ value, label }) =>
    textElement(x(value), height + TICK_GAP + TICK_SIZE, label, { size: xTickSize, anchor: 'middle' }),
  );
  const beside = yAxis.ticks.map(({ value, label }) =>
    textElement(-TICK_GAP, y(value) + 0.36 * TICK_SIZE, label, { size: TICK_SIZE, anchor: 'end' }),
  );
  return [...below, ...beside].join('\n');
}

function renderTitles({ panel, width, height, xLabelOffset, yLabelOffset }: PanelLayout): string[] {
  const { title, xLabel, yLabel } = panel;
  const centred = { size: LABEL_SIZE, anchor: 'middle' } as const;
  const [right, middle] = [width / 2, height / 2];
  return [
    title === undefined ? '' : textElement(right, -9, title, { size: PANEL_TITLE_SIZE, anchor: 'middle', bold: true }),
    xLabel === undefined ? '' : textElement(right, height + xLabelOffset, xLabel, centred),
    yLabel === undefined ? '' : textElement(-yLabelOffset, middle, yLabel, { ...centred, rotate: -90 }),
  ];
}
