import type { MainModule } from '@rdkit/rdkit';
import { MadeOnce } from '../../../core/text/made-once.ts';

/** Which Morgan fingerprints: their radius in bonds, and their length in bits. */
export interface FingerprintShape {
  radius: number;
  bits: number;
}

/** Fingerprints of some molecules. */
export interface FingerprintBlock {
  /** Shape `[N, bits / 8]`, bit i of a molecule in bit i mod 8 of byte ⌊i / 8⌋; zeros for an invalid one. */
  packed: Uint8Array<ArrayBuffer>;
  /** 1 where a text is the SMILES of a molecule with atoms, shape `[N]`. */
  isValid: Uint8Array<ArrayBuffer>;
}

const started = new MadeOnce<MainModule>();

/**
 * RDKit, in WebAssembly, once for the process. Loading it takes a tenth of a second, and most processes never need it.
 */
export function loadRdkit(): Promise<MainModule> {
  return started.get(startRdkit);
}

async function startRdkit(): Promise<MainModule> {
  const { default: module } = await import('@rdkit/rdkit');
  const rdkit = await module.default();
  // Each invalid SMILES is reported by Tutti.
  rdkit.disable_logging();
  return rdkit;
}

/**
 * Morgan fingerprints of molecules: bit h mod `bits` is set for the hash h of each atom's surroundings up to `radius`
 * bonds. Source: Rogers and Hahn, "Extended-connectivity fingerprints", J. Chem. Inf. Model. 2010.
 */
export function fingerprintBlock(
  rdkit: MainModule,
  smiles: readonly string[],
  { radius, bits }: FingerprintShape,
): FingerprintBlock {
  const bytes = bits / 8;
  const packed = new Uint8Array(smiles.length * bytes);
  const isValid = new Uint8Array(smiles.length);
  const details = JSON.stringify({ radius, nBits: bits });
  smiles.forEach((text, index) => {
    // RDKit takes an empty text for a molecule without atoms.
    const molecule = text.trim() === '' ? null : rdkit.get_mol(text);
    if (molecule === null) return;
    try {
      packed.set(molecule.get_morgan_fp_as_uint8array(details) as Uint8Array, index * bytes);
      isValid[index] = 1;
    } finally {
      molecule.delete();
    }
  });
  return { packed, isValid };
}
