/**
 * Compiles `workers/kernels/assembly` to the modules in `workers/kernels`: deterministic (the same bits on every
 * processor) and relaxed (the processor's fused multiply-add), each also as a module with only matrix products in wide
 * tiles and recurrent layers (see `workers/backends/wasm/wide-gemm.ts`). `--check` writes nothing and fails if a
 * committed module differs from its sources.
 */
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import asc from 'assemblyscript/asc';

const folder = join(import.meta.dirname, '..', 'workers', 'kernels');
const relaxed = ['--enable', 'relaxed-simd'];
const narrow = ['--use', 'panelsPerTile=1'];
const wide = ['--use', 'panelsPerTile=2'];
const builds: Record<string, { entry: string; options: string[] }> = {
  deterministic: { entry: 'index.ts', options: narrow },
  relaxed: { entry: 'index.ts', options: [...narrow, ...relaxed] },
  'deterministic-wide': { entry: 'wide.ts', options: wide },
  'relaxed-wide': { entry: 'wide.ts', options: [...wide, ...relaxed] },
};

/** The maximum is that of TensorFlow.js's module: threads can share only a memory that has one. */
const common = [
  '--disableWarning',
  '112',
  '--enable',
  'simd',
  '--optimizeLevel',
  '3',
  '--noAssert',
  '--runtime',
  'stub',
  '--importMemory',
  '--maximumMemory',
  '65536',
  '--noExportMemory',
];
const scratch = await mkdtemp(join(folder, '.build-'));
try {
  for (const [name, { entry, options }] of Object.entries(builds)) await build(name, entry, options);
} finally {
  await rm(scratch, { recursive: true });
}

async function build(name: string, source: string, options: string[]): Promise<void> {
  const built = join(scratch, `${name}.wasm`);
  const committed = join(folder, `${name}.wasm`);
  const entry = join(folder, 'assembly', source);
  const { error } = await asc.main([entry, '--outFile', built, ...common, ...options], { stderr: process.stderr });
  if (error !== null) throw new Error(`The ${name} kernels do not compile.`, { cause: error });
  requireNoStaticData(new Uint8Array(await readFile(built)), name);
  if (!process.argv.includes('--check')) await rename(built, committed);
  else if (!(await readFile(built)).equals(await readFile(committed))) {
    throw new Error(`${committed} differs from its sources. Run npm run build:kernels and commit it.`);
  }
}

/** Fails if a module has static data: the memory belongs to TensorFlow.js, whose data they would overwrite. */
function requireNoStaticData(module: Uint8Array, name: string): void {
  const dataSection = 11;
  // Eight bytes of magic and version, then sections: an id, a size in LEB128, the content.
  for (let position = 8; position < module.length;) {
    const section = module[position++];
    let size = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = module[position++];
      size |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    if (section === dataSection) {
      throw new Error(
        `The ${name} kernels have static data, which would overwrite TensorFlow.js's: compute it instead.`,
      );
    }
    position += size;
  }
}
