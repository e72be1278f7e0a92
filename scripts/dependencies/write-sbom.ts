/**
 * `npm run sbom`: writes the software bill of materials in the CycloneDX format to `out/sbom.cdx.json`, as npm makes it
 * of the lockfile.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };
import { readLockfile } from './lockfile.ts';
import { compareWithLockfile, sbomSchema } from './sbom.ts';

const root = new URL('../../', import.meta.url);
const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];
const shell = process.platform === 'win32';
const output = execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28, shell });
const sbom = sbomSchema.parse(JSON.parse(output));
// npm names the product after the folder of the checkout.
sbom.metadata.component.name = packageJson.name;
const differences = compareWithLockfile(sbom, readLockfile(root));
if (differences.length > 0) throw new Error(`npm's SBOM does not fit the lockfile:\n${differences.join('\n')}`);

const file = new URL('out/sbom.cdx.json', root);
mkdirSync(new URL('.', file), { recursive: true });
writeFileSync(file, `${JSON.stringify(sbom, null, 2)}\n`);
console.log(`${fileURLToPath(file)}: ${sbom.components.length} packages`);
