import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import { MadeOnce } from '../../../core/text/made-once.ts';

const starting = new MadeOnce<void>();

/** A picture as PNG. The first one takes some tens of milliseconds more. @param width in pixels */
export async function renderSvg(svg: string, width: number): Promise<Uint8Array> {
  await starting.get(async () => {
    await initWasm(await readFile(createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm')));
  });
  const drawn = new Resvg(svg, { fitTo: { mode: 'width', value: width } });
  const image = drawn.render();
  const png = image.asPng();
  // Not in a `finally`: after a failed render both are locked, and freeing them would throw another error.
  image.free();
  drawn.free();
  return png;
}
