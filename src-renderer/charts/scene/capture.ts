import { svgDocument } from './svg.ts';
import { readPalette } from './theme.ts';

/** Properties that stylesheets set on a plot's shapes, and that a stand-alone file must contain. */
const styled = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-opacity',
  'stroke-dasharray',
  'stroke-linecap',
  'font-size',
  'text-anchor',
  'paint-order',
];
const headingHeight = 56;

/** A plot of the page as a stand-alone SVG document, in its current colours, with title and run name above it. */
export function captureSvg(plot: SVGSVGElement, { title, runName }: { title: string; runName: string }): string {
  const copy = plot.cloneNode(true);
  if (!(copy instanceof SVGSVGElement)) throw new TypeError('The copy of an SVG plot is not an SVG element.');
  const originals = [...plot.querySelectorAll('*')];
  copy.querySelectorAll('*').forEach((element, index) => {
    const style = getComputedStyle(originals[index]);
    for (const name of styled) element.setAttribute(name, style.getPropertyValue(name));
    element.removeAttribute('style');
    element.removeAttribute('class');
  });
  const { width, height } = plot.getBoundingClientRect();
  const body = `<g transform="translate(0 ${headingHeight})">${copy.innerHTML}</g>`;
  const palette = readPalette(plot.parentElement ?? document.body);
  return svgDocument({ title, runName, width, height: height + headingHeight + 8, palette }, [body]);
}
