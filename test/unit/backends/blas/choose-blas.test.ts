import { mkdtempSync, chmodSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runConfigSchema } from '../../../../core/protocol/run/config.ts';
import type { RunRecord } from '../../../../core/protocol/run/record.ts';
import type { ProbeReply } from '../../../../core/protocol/machine/devices.ts';
import type { BlasSurvey } from '../../../../src-main/backends/blas-survey.ts';
import { adviseBlas, blasOfResumed, chooseBlas } from '../../../../src-main/backends/choose-blas.ts';

const at = (gflops: number): ProbeReply => ({ kind: 'measured', description: 'any', gflops });
const unusable: ProbeReply = { kind: 'unusable', reason: 'it was killed by SIGILL' };

function survey(own: number, replies: Record<string, ProbeReply>): () => Promise<BlasSurvey> {
  const libraries = Object.entries(replies).map(([coreType, reply]) => ({
    blas: { kind: 'OpenBLAS' as const, library: '/lib/libopenblas.so.0', coreType },
    reply,
  }));
  return () => Promise.resolve({ identity: 'test', own: at(own), libraries });
}

const openBlas = (coreType: string) => ({ kind: 'OpenBLAS', library: '/lib/libopenblas.so.0', coreType });
const notAsked = () => Promise.reject(new Error('nothing was to be measured'));

describe('auto', () => {
  const config = { blas: 'auto', backend: 'auto' } as const;

  it('takes the fastest measured BLAS', async () => {
    const replies = { Prescott: at(60), Haswell: at(110), SkylakeX: unusable };
    expect(await chooseBlas(config, survey(60, replies))).toEqual(openBlas('Haswell'));
  });

  it('keeps the built-in kernels if no BLAS is clearly faster', async () => {
    expect(await chooseBlas(config, survey(60, { Prescott: at(71) }))).toBeNull();
    expect(await chooseBlas(config, survey(60, { Prescott: at(73) }))).toEqual(openBlas('Prescott'));
    // Four threads with Tutti's kernels multiply 60 · 1.6² = 154 times; a BLAS has one thread.
    expect(await chooseBlas(config, survey(60, { Prescott: at(180) }), 4)).toBeNull();
    expect(await chooseBlas(config, survey(60, { Prescott: at(190) }), 4)).toEqual(openBlas('Prescott'));
  });

  it('keeps the built-in kernels if there is no BLAS', async () => {
    expect(await chooseBlas(config, survey(60, {}))).toBeNull();
  });

  it('measures nothing for the cpu backend', async () => {
    expect(await chooseBlas({ blas: 'auto', backend: 'cpu' }, notAsked)).toBeNull();
  });
});

describe('on and off', () => {
  it('takes the fastest BLAS even if the built-in kernels are faster', async () => {
    const replies = { Haswell: at(40), Zen: at(50) };
    expect(await chooseBlas({ blas: 'on', backend: 'wasm' }, survey(60, replies))).toEqual(openBlas('Zen'));
  });

  it('reports what is missing and how to get it', async () => {
    const choice = chooseBlas({ blas: 'on', backend: 'wasm' }, survey(60, {}));
    await expect(choice).rejects.toThrow(/No BLAS .* was found\..* setup --blas fetches OpenBLAS.*--blas off/s);
  });

  it('reports why the BLAS it found cannot be used', async () => {
    const choice = chooseBlas({ blas: 'on', backend: 'wasm' }, survey(60, { Haswell: unusable }));
    await expect(choice).rejects.toThrow('it was killed by SIGILL');
  });

  it('measures nothing when switched off or when results must be equal on every machine', async () => {
    expect(await chooseBlas({ blas: 'auto', backend: 'auto', determinism: 'deterministic' }, notAsked)).toBeNull();
    expect(await chooseBlas({ blas: 'off', backend: 'auto' }, notAsked)).toBeNull();
  });
});

describe('a resumed run', () => {
  /** With `determinism: deterministic` no other BLAS is chosen, so null means that the recorded one was refused. */
  const config = runConfigSchema.parse({ determinism: 'deterministic' });

  function recordWith(library: string): RunRecord {
    return { blas: { kind: 'OpenBLAS', library, coreType: null }, config } as unknown as RunRecord;
  }

  function writeLibrary(): string {
    const folder = mkdtempSync(join(tmpdir(), 'tutti-blas-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'libopenblas.so.0'), '');
    return join(folder, 'libopenblas.so.0');
  }

  it('keeps its BLAS if this system still offers it', async () => {
    const library = writeLibrary();
    const kept = await blasOfResumed(recordWith(library), config, () =>
      Promise.resolve([{ kind: 'OpenBLAS', library }]),
    );
    expect(kept).toEqual({ kind: 'OpenBLAS', library, coreType: null });
  });

  it('does not load a library that only its record names, nor one that others can write', async () => {
    const library = writeLibrary();
    expect(await blasOfResumed(recordWith(library), config, () => Promise.resolve([]))).toBeNull();
    chmodSync(library, 0o666);
    const offered = () => Promise.resolve([{ kind: 'OpenBLAS' as const, library }]);
    expect(await blasOfResumed(recordWith(library), config, offered)).toBeNull();
  });
});

describe('what a BLAS would gain', () => {
  const record = { config: runConfigSchema.parse({}), blas: null };
  // Products of the MLP of the benchmarks: 128 samples, 3072 inputs, 512 units.
  const facts = { backend: 'wasm (256-bit SIMD, relaxed, one core)', largestProduct: 128 * 3072 * 512 };

  it('is told where none is found, with the figures and where they were measured', async () => {
    expect(await adviseBlas(record, facts, survey(60, {}))).toMatch(
      /^No BLAS was found.*where it was measured.*1\.4 and 1\.5 times as fast, and of ResNet-18 1\.7 times\. .*setup --blas\.$/,
    );
  });

  it('is not told where one is found or was refused, products are small, or the options exclude it', async () => {
    expect(await adviseBlas(record, facts, survey(60, { Haswell: at(40) }))).toBeNull();
    expect(await adviseBlas(record, facts, () => Promise.resolve(null))).toBeNull();
    expect(await adviseBlas(record, { ...facts, largestProduct: 64 * 512 * 512 }, notAsked)).toBeNull();
    expect(await adviseBlas(record, { backend: facts.backend, largestProduct: undefined }, notAsked)).toBeNull();
    expect(await adviseBlas(record, { ...facts, backend: 'cpu' }, notAsked)).toBeNull();
    expect(await adviseBlas(record, null, notAsked)).toBeNull();
    for (const change of [{ blas: 'off' }, { determinism: 'deterministic' }] as const) {
      expect(await adviseBlas({ ...record, config: runConfigSchema.parse(change) }, facts, notAsked)).toBeNull();
    }
  });
});
