import type { MainModule } from '@rdkit/rdkit';
import { coloredElements, type DrawingPart, type MoleculeDrawing } from '../../../core/protocol/run/pool-task.ts';

/** Size of a drawing, in its own units. */
const [width, height] = [200, 140];
/** RDKit needs a second for a chain of 400 atoms, and nobody can read it at this size. */
const longestSmiles = 300;

/**
 * A colour names an element: its blue is the atomic number. So the reply tells what is coloured, and the page decides
 * how.
 */
const details = JSON.stringify({
  width,
  height,
  clearBackground: false,
  bondLineWidth: 1.3,
  padding: 0.06,
  atomColourPalette: Object.fromEntries([
    ['-1', [0, 0, 0]],
    ...coloredElements.map((element) => [element, [0, 0, element / 255]]),
  ]),
});

/** Draws the structure of a molecule. @returns null for a text that is no SMILES, or a molecule too large to be read */
export function drawMolecule(rdkit: MainModule, smiles: string): MoleculeDrawing | null {
  // RDKit takes an empty text for a molecule without atoms.
  const molecule = smiles.trim() === '' || smiles.length > longestSmiles ? null : rdkit.get_mol(smiles);
  if (molecule === null) return null;
  try {
    return { width, height, parts: readPaths(molecule.get_svg_with_highlights(details)) };
  } finally {
    molecule.delete();
  }
}

/** The paths of RDKit's SVG, those of one look together. Nothing else of it is passed on. */
function readPaths(svg: string): DrawingPart[] {
  const parts = new Map<string, DrawingPart>();
  for (const [, attributes] of svg.matchAll(/<path ([^>]*)>/g)) {
    const d = /(?:^|\s)d='([MLQCZ\d.,\s-]+)'/.exec(attributes)?.[1];
    if (d === undefined) throw new Error(`RDKit drew a path that is not understood: ${attributes}`);
    const look = lookOf(attributes);
    const key = JSON.stringify(look);
    const known = parts.get(key);
    parts.set(key, { ...look, d: known === undefined ? d.trim() : `${known.d} ${d.trim()}` });
  }
  return [...parts.values()];
}

/** A line has its colour as `stroke`, a letter as `fill`, a wedge both. */
function lookOf(attributes: string): Omit<DrawingPart, 'd'> {
  const fill = /fill(?::|=')(#[\dA-F]{6}|none)/.exec(attributes)?.[1] ?? 'none';
  const stroke = /stroke(?::|=')(#[\dA-F]{6})/.exec(attributes)?.[1];
  const strokeWidth = stroke === undefined ? 0 : Number(/stroke-width:([\d.]+)px/.exec(attributes)?.[1] ?? 1);
  return { element: elementOf(stroke ?? fill), isFilled: fill !== 'none', strokeWidth };
}

function elementOf(color: string): number {
  return Number.parseInt(color.slice(5), 16) || 0;
}
