import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { initWasm, Resvg } from '@resvg/resvg-wasm';

let starting: Promise<void> | null = null;

/** A picture as PNG. The first one takes some tens of milliseconds more. @param width in pixels */
export async function renderSvg(svg: string, width: number): Promise<Uint8Array> {
  starting ??= readFile(createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm')).then(initWasm);
  await starting;
  const drawn = new Resvg(svg, { fitTo: { mode: 'width', value: width } });
  const image = drawn.render();
  const png = image.asPng();
  // Not in a `finally`: after a failed render both are locked, and freeing them would throw another error.
  image.free();
  drawn.free();
  return png;
}
