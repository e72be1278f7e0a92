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
