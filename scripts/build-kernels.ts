/**
 * Compiles `workers/kernels/assembly` to the two modules beside it: deterministic (the same bits on every processor) and relaxed (fused
 * multiply-add as the processor has it). `--check` only fails where the committed modules are not what the sources give.
 */
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import asc from 'assemblyscript/asc';

const folder = join(import.meta.dirname, '..', 'workers', 'kernels');
const builds = { deterministic: [], relaxed: ['--enable', 'relaxed-simd'] };

const common = [
  '--enable',
  'simd',
  '--optimizeLevel',
  '3',
  '--noAssert',
  '--runtime',
  'stub',
  '--importMemory',
  '--noExportMemory',
];
const scratch = await mkdtemp(join(folder, '.build-'));
try {
  for (const [name, options] of Object.entries(builds)) await build(name, options);
} finally {
  await rm(scratch, { recursive: true });
}

async function build(name: string, options: string[]): Promise<void> {
  const built = join(scratch, `${name}.wasm`);
  const committed = join(folder, `${name}.wasm`);
  const entry = join(folder, 'assembly', 'index.ts');
  const { error } = await asc.main([entry, '--outFile', built, ...common, ...options], { stderr: process.stderr });
  if (error !== null) throw new Error(`The ${name} kernels do not compile.`, { cause: error });
  if (!process.argv.includes('--check')) await rename(built, committed);
  else if (!(await readFile(built)).equals(await readFile(committed))) {
    throw new Error(`${committed} is not what its sources give. Run npm run build:kernels and commit it.`);
  }
}
