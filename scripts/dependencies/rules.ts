import { allowedLicences, badReleases, installScripts, readLicences } from './reviewed.ts';
import { type LockedPackage, type Lockfile, packagesOf } from './lockfile.ts';

const registry = 'https://registry.npmjs.org/';

/**
 * What is wrong with the dependencies, each with the remedy; empty if nothing is.
 * @param npmrc text of the repository's `.npmrc`
 */
export function findDependencyProblems(lockfile: Lockfile, npmrc: string): string[] {
  const packages = packagesOf(lockfile);
  return [
    ...packages.flatMap((locked) => rules.flatMap((rule) => rule(locked))),
    ...findInexactVersions(lockfile),
    ...findOpenScripts(npmrc),
    ...findSuperfluous(packages),
  ];
}

/** The licence of a package, as an SPDX expression or from its files; undefined if nobody has read it. */
export function licenceOf({ name, license }: LockedPackage): string | undefined {
  return readLicences[name] ?? license;
}

/** Rules for one package. */
const rules: readonly ((locked: LockedPackage) => string[])[] = [
  ({ name, version, integrity }) =>
    integrity !== undefined && integrity.split(' ').every((hash) => /^sha512-[A-Za-z0-9+/]{86}==$/.test(hash))
      ? []
      : [
          `${name}@${version} has no SHA-512 in package-lock.json (${integrity ?? 'no integrity'}). Install it again with npm.`,
        ],
  ({ name, version, resolved, link }) => {
    if (link !== true && (resolved === undefined || resolved.startsWith(registry))) return [];
    const source = link === true ? 'a link' : `${resolved}`;
    return [`${name}@${version} comes from ${source}; only the public registry (${registry}) is allowed.`];
  },
  ({ name, version, hasInstallScript }) => {
    if (hasInstallScript !== true || installScripts[name]?.version === version) return [];
    return [
      `${name}@${version} has an install script that nobody has reviewed. Read it (npm view ${name}@${version} scripts), and enter ` +
        'it in scripts/dependencies/reviewed.ts if Tutti works without it.',
    ];
  },
  ({ name, version }) => {
    const bad = badReleases[name];
    if (bad === undefined || (bad.versions !== null && !bad.versions.includes(version))) return [];
    return [`${name}@${version} is a release with malicious code: ${bad.advisory}. Choose another release or package.`];
  },
  (locked) => {
    const licence = licenceOf(locked);
    if (readLicences[locked.name] !== undefined || (licence !== undefined && allowedLicences.includes(licence)))
      return [];
    return [
      `${locked.name}@${locked.version} has the licence ${licence ?? '(none named)'}, which is not in the list of ` +
        'scripts/dependencies/reviewed.ts. Read it, and enter it there if Tutti may use the package.',
    ];
  },
];

/** Direct dependencies must name one version: a range lets another machine install another release. */
function findInexactVersions({ packages }: Lockfile): string[] {
  const { dependencies, devDependencies, optionalDependencies } = packages[''] ?? {};
  return Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
    .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    .map(([name, version]) => `package.json asks for ${name} "${version}". Name one exact version.`);
}

function findOpenScripts(npmrc: string): string[] {
  return /^ignore-scripts\s*=\s*true\s*$/m.test(npmrc)
    ? []
    : ['.npmrc must hold ignore-scripts=true, so that installing runs no code of the packages.'];
}

/** A reviewed script that is gone would allow a package of the same name to come back with another one. */
function findSuperfluous(packages: readonly LockedPackage[]): string[] {
  const held = new Set(packages.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name));
  return Object.keys(installScripts)
    .filter((name) => !held.has(name))
    .map((name) => `${name} has no install script any more. Remove it from scripts/dependencies/reviewed.ts.`);
}
