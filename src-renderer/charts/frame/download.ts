import { svgDocument } from '../scene/svg.ts';
import { readPalette } from '../scene/draw-scene.ts';

/** Downloads a file to the reader's machine. */
export function download(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.download = name;
  link.href = URL.createObjectURL(blob);
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Downloads what a link of this server leads to. */
export function downloadFrom(href: string): void {
  const link = document.createElement('a');
  link.download = '';
  link.href = href;
  link.click();
}

/**
 * `val NLL of run 3.png` from a title, a run's name and an extension. Characters that file systems refuse become `-`.
 */
export function fileName(title: string, runName: string, extension: string): string {
  return `${`${runName} ${title}`.replaceAll(/[^\p{L}\p{N}._ -]+/gu, '-')}.${extension}`;
}

export function svgBlob(svg: string): Blob {
  return new Blob([svg], { type: 'image/svg+xml' });
}

/** An SVG document as PNG, with two pixels per unit. @throws when the browser cannot draw it */
export async function pngBlob(svg: string): Promise<Blob> {
  const image = new Image();
  // Not a blob URL: the page's security policy allows images only from data URLs.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [2 * image.naturalWidth, 2 * image.naturalHeight];
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return await new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob === null) reject(new Error('The browser could not write the chart as PNG; export it as SVG instead.'));
      else resolve(blob);
    });
  });
}

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
