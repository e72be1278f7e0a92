import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';
import { readLockfile } from '../../../scripts/dependencies/lockfile.ts';
import { compareWithLockfile, type Sbom, sbomSchema } from '../../../scripts/dependencies/sbom.ts';

const root = new URL('../../../', import.meta.url);
const lockfile = readLockfile(root);
let sbom: Sbom;

beforeAll(() => {
  const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];
  const output = execFileSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    shell: process.platform === 'win32',
  });
  sbom = sbomSchema.parse(JSON.parse(output));
});

describe("npm's software bill of materials", () => {
  it('lists exactly the packages of the lockfile, with their hashes', () => {
    expect(compareWithLockfile(sbom, lockfile)).toEqual([]);
    expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5' });
  });

  it('names no registry', () => {
    const urls = JSON.stringify(sbom).match(/https?:\/\/[^"]*\.tgz/g) ?? [];
    expect(urls.filter((url) => !url.startsWith('https://registry.npmjs.org/'))).toEqual([]);
  });

  it('differs where a package is missing, superfluous, or has another hash', () => {
    const [first, second, ...others] = sbom.components;
    const changed = { ...second, hashes: [{ alg: 'SHA-512', content: '00' }] };
    const stranger = { ...first, name: 'stranger', version: '1.0.0' };
    const problems = compareWithLockfile({ ...sbom, components: [changed, stranger, ...others] }, lockfile);
    expect(problems).toHaveLength(3);
    expect(problems).toContain('stranger@1.0.0 is not in the lockfile.');
    expect(problems).toContain(`${first.name}@${first.version} is missing.`);
    expect(problems.find((problem) => problem.startsWith(`${second.name}@`))).toMatch(
      /has the SHA-512 00, not [0-9a-f]{128}\./,
    );
  });
});
