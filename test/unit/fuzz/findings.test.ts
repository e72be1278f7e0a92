import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { examine } from '../../fuzz/engine/judge.ts';
import { allTargets } from '../../fuzz/targets/index.ts';

/** Inputs that once crashed, hung or took memory: `test/fuzz/cases/<target>/<what was wrong>.bin`, minimised. */
const folder = new URL('../../fuzz/cases/', import.meta.url);
const targets = new Map((await allTargets()).map(({ target }) => [target.name, target]));
const cases = readdirSync(folder).flatMap((name) =>
  readdirSync(new URL(`${name}/`, folder)).map((file) => ({ name, file: `${name}/${file}` })),
);

afterAll(async () => {
  for (const target of targets.values()) await target.close?.();
});

describe('an input that the fuzzer found', () => {
  it.each(cases)('is read or refused: $file', async ({ name, file }) => {
    const target = targets.get(name);
    if (target === undefined) throw new Error(`${file} belongs to no target.`);
    expect(await examine(target, readFileSync(new URL(file, folder)))).toBeNull();
  });
});
