/**
 * Renders the logo as the icons of the desktop app: PNG for Linux, ICNS for macOS, ICO for Windows. With `--check`
 * writes nothing, and fails where an icon is outdated. `node scripts/generate/icons.ts [--check]`
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { renderPng } from '../../workers/plots/render-png.ts';
import { icnsFile, icnsSizes, icoFile, icoSizes } from './icon-files.ts';

const root = new URL('../../', import.meta.url);
const folder = new URL('packaging/icons/', root);
const logo = readFileSync(new URL('src-renderer/assets/logo.svg', root), 'utf8');
const logoSide = 32;
/** The sizes that Linux desktops look for. */
const pngSizes = [16, 24, 32, 48, 64, 128, 256, 512];

/** On macOS, an icon fills 824 of 1024 pixels; its shadow has the rest. */
const macMargin = (logoSide * (1024 - 824)) / 824 / 2;
const macLogo = logo.replace(
  `viewBox="0 0 ${logoSide} ${logoSide}"`,
  `viewBox="${-macMargin} ${-macMargin} ${logoSide + 2 * macMargin} ${logoSide + 2 * macMargin}"`,
);

const render = (svg: string, side: number, sizes: readonly number[]): Promise<Uint8Array[]> =>
  Promise.all(sizes.map((size) => renderPng(svg, { scale: size / side })));

async function draw(): Promise<Map<string, Uint8Array>> {
  if (macLogo === logo)
    throw new Error(`logo.svg has no viewBox of ${logoSide} pixels: change scripts/generate/icons.ts.`);
  const pngs = await render(logo, logoSide, pngSizes);
  return new Map([
    ...pngs.map((png, index) => [`${pngSizes[index]}x${pngSizes[index]}.png`, png] as const),
    ['tutti.icns', icnsFile(await render(macLogo, logoSide + 2 * macMargin, icnsSizes))],
    ['tutti.ico', icoFile(await render(logo, logoSide, icoSizes))],
  ]);
}

const isCurrent = (file: URL, bytes: Uint8Array): boolean => existsSync(file) && readFileSync(file).equals(bytes);

mkdirSync(folder, { recursive: true });
for (const [name, bytes] of await draw()) {
  const file = new URL(name, folder);
  if (!process.argv.includes('--check')) writeFileSync(file, bytes);
  else if (!isCurrent(file, bytes)) {
    console.error(
      `packaging/icons/${name} does not fit src-renderer/assets/logo.svg. Run: node scripts/generate/icons.ts`,
    );
    process.exitCode = 1;
  }
}
