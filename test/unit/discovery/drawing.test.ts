import { expect, it } from 'vitest';
import { Drawings } from '../../../src-main/discovery/drawings.ts';
import { drawMolecule } from '../../../workers/data/molecules/drawing.ts';
import { loadRdkit } from '../../../workers/data/molecules/fingerprint-block.ts';

const rdkit = await loadRdkit();
const lines = (d: string): number => d.split('M').length - 1;

it('a molecule is drawn as paths, and its elements are named', () => {
  const ethane = drawMolecule(rdkit, 'CC');
  // One bond between two carbons.
  expect(ethane?.parts).toEqual([
    { element: 0, isFilled: false, strokeWidth: expect.any(Number) as number, d: expect.any(String) as string },
  ]);
  expect(lines(ethane?.parts[0].d ?? '')).toBe(1);
  const glycine = drawMolecule(rdkit, 'NCC(=O)O');
  expect(new Set(glycine?.parts.map(({ element }) => element))).toEqual(new Set([0, 7, 8]));
  // Letters are areas, bonds are lines.
  expect(glycine?.parts.some(({ element, isFilled }) => element === 7 && isFilled)).toBe(true);
  const salt = drawMolecule(rdkit, '[Na+].[Cl-]');
  expect(new Set(salt?.parts.map(({ element }) => element))).toEqual(new Set([0, 17]));
  for (const { d } of [...(glycine?.parts ?? []), ...(salt?.parts ?? [])]) expect(d).toMatch(/^[MLQCZ\d.,\s-]+$/);
});

it('texts that are no SMILES, and molecules too large to be read, are not drawn', () => {
  expect(drawMolecule(rdkit, 'C1CC')).toBeNull();
  expect(drawMolecule(rdkit, ' ')).toBeNull();
  expect(drawMolecule(rdkit, '"><script>alert(1)</script>')).toBeNull();
  expect(drawMolecule(rdkit, 'C'.repeat(301))).toBeNull();
});

it('a process draws for the hub, and each molecule once', async () => {
  const drawings = new Drawings();
  try {
    const [first, again, none] = await drawings.draw(['CCO', 'CCO', 'no SMILES']);
    expect(first).toEqual(drawMolecule(rdkit, 'CCO'));
    expect(again).toBe(first);
    expect(none).toBeNull();
    expect((await drawings.draw(['CCO']))[0]).toBe(first);
    // More than the 5,000 that are kept: the last question wants one of them again.
    const others = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `no SMILES ${from + i}`);
    for (let from = 0; from < 4990; from += 998) await drawings.draw(others(from, from + 998));
    expect((await drawings.draw(['CCO', ...others(4990, 5010)]))[0]).toEqual(first);
  } finally {
    await drawings.close();
  }
});
