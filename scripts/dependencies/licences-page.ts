import { type LockedPackage, type Lockfile, packagesOf } from './lockfile.ts';
import { licenceOf } from './rules.ts';

const introduction = `# Licences

Generated from \`package-lock.json\` by \`scripts/dependencies/write-licences.ts\`. Tutti itself is under the MIT licence. Each package
brings the text of its licence along in \`node_modules\`. \`npm run dependencies\` fails on a licence that is not in the list of
\`scripts/dependencies/reviewed.ts\`.
`;

/** \`docs/licences.md\`: the packages that Tutti needs to run, and those that build and test it. */
export function renderLicences(lockfile: Lockfile): string {
  const packages = packagesOf(lockfile);
  return [
    introduction,
    '## To run Tutti\n',
    listOf(packages.filter(({ dev }) => dev !== true)),
    '## To build and test it\n',
    'Not part of an installation without development dependencies.\n',
    listOf(packages.filter(({ dev }) => dev === true)),
  ].join('\n');
}

function listOf(packages: readonly LockedPackage[]): string {
  const byLicence = Map.groupBy(packages, (locked) => licenceOf(locked) ?? 'unknown');
  const items = [...byLicence]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([licence, held]) => {
      const names = [...new Set(held.map(({ name, version }) => `${name} ${version}`))].sort();
      return `- **${licence}** (${names.length}): ${names.join(', ')}`;
    });
  return `${items.join('\n')}\n`;
}
