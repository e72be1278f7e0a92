import { createDataset, type Dataset, type PoolNotes } from '../dataset.ts';
import { noteData } from '../notes.ts';
import { type FingerprintOptions, moleculeFingerprints } from './fingerprints.ts';

/** Molecules with their targets. */
export interface MoleculeOptions extends FingerprintOptions, Pick<Dataset, 'name' | 'classNames' | 'classCount'> {
  /** SMILES of N molecules. */
  smiles: readonly string[];
  /** Class labels (Int32Array) or values (Float32Array), shape `[N]`. */
  targets: Int32Array | Float32Array;
}

/** Of texts that are no SMILES, in a note; the pool lists all. */
const mostShown = 5;

/** A data set of molecules. */
export interface Molecules {
  /** The fingerprints of the valid molecules as bytes, 255 for a set bit; features of shape `[bits]`. */
  dataset: Dataset;
  /** Their SMILES, and which texts are none: return it as `pool`. */
  pool: PoolNotes;
}

/**
 * Fingerprints of molecules as a data set. Texts that are no SMILES are left out, and listed by their rows.
 * @throws Error if there are not as many targets as SMILES, or none of them is valid
 */
export async function moleculeDataset({ smiles, targets, name, ...options }: MoleculeOptions): Promise<Molecules> {
  if (smiles.length !== targets.length) {
    throw new Error(
      `"${name}" has ${smiles.length} SMILES and ${targets.length} targets. Give each molecule one target.`,
    );
  }
  const { packed, isValid } = await moleculeFingerprints(smiles, options);
  const rows = Int32Array.from({ length: smiles.length }, (_, row) => row);
  const valid = rows.filter((row) => isValid[row] === 1);
  const excluded = Array.from(
    rows.filter((row) => isValid[row] === 0),
    (row) => `Row ${row + 1} of "${name}" is no SMILES that RDKit reads: ${JSON.stringify(smiles[row])}.`,
  );
  if (valid.length === 0)
    throw new Error(`None of the ${smiles.length} texts of "${name}" is a SMILES. Name the column that holds SMILES.`);
  if (excluded.length > 0) {
    const shown = excluded.slice(0, mostShown).join('\n');
    const others = excluded.length > mostShown ? `\nand ${excluded.length - mostShown} more` : '';
    noteData(`${excluded.length} of ${smiles.length} molecules are left out:\n${shown}${others}`);
  }
  const bytesEach = packed.length / smiles.length;
  const { classNames, classCount } = options;
  const dataset = createDataset({
    name,
    featureShape: [bytesEach * 8],
    features: unpackRows(packed, valid, bytesEach),
    targets:
      targets instanceof Int32Array
        ? Int32Array.from(valid, (row) => targets[row])
        : Float32Array.from(valid, (row) => targets[row]),
    ...(classNames && { classNames }),
    ...(classCount !== undefined && { classCount }),
  });
  return { dataset, pool: { texts: { smiles: Array.from(valid, (row) => smiles[row]) }, excluded } };
}

/** Bits as bytes, 0 or 255, which a data set takes for 0 and 1. */
function unpackRows(packed: Uint8Array, rows: Int32Array, bytesEach: number): Uint8Array {
  const features = new Uint8Array(rows.length * bytesEach * 8);
  let at = 0;
  for (const row of rows) {
    for (let byte = row * bytesEach; byte < (row + 1) * bytesEach; byte++) {
      for (let bit = 0; bit < 8; bit++) features[at++] = (packed[byte] >> bit) & 1 ? 255 : 0;
    }
  }
  return features;
}
