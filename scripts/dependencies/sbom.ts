import { z } from 'zod';
import { type Lockfile, packagesOf } from './lockfile.ts';

/** The parts of a CycloneDX document (https://cyclonedx.org/docs/1.5/json/) that are compared with the lockfile. */
export const sbomSchema = z.looseObject({
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.string(),
  metadata: z.looseObject({ component: z.looseObject({ name: z.string(), version: z.string() }) }),
  components: z.array(
    z.looseObject({
      name: z.string(),
      version: z.string(),
      purl: z.string(),
      hashes: z.array(z.strictObject({ alg: z.string(), content: z.string() })).optional(),
    }),
  ),
  dependencies: z.array(z.looseObject({ ref: z.string() })),
});
export type Sbom = z.output<typeof sbomSchema>;

/**
 * Where an SBOM and the lockfile differ: packages that are missing or superfluous, other hashes. Empty if it lists what
 * is installed.
 */
export function compareWithLockfile({ components }: Sbom, lockfile: Lockfile): string[] {
  const listed = new Map(components.map((component) => [`${component.name}@${component.version}`, component]));
  // npm lists a package that is also installed under another name once, under one of the two.
  const byRelease = Map.groupBy(packagesOf(lockfile), ({ name, version }) => `${name}@${version}`);
  const releases = [...byRelease].map(([release, copies]) => ({
    release,
    keys: [release, ...copies.map(({ alias, version }) => `${alias}@${version}`)],
    integrity: copies[0].integrity ?? '',
  }));
  const known = new Set(releases.flatMap(({ keys }) => keys));
  const superfluous = [...listed.keys()]
    .filter((key) => !known.has(key))
    .map((key) => `${key} is not in the lockfile.`);
  const wrong = releases.flatMap(({ release, keys, integrity }) => {
    const component = keys.map((key) => listed.get(key)).find((found) => found !== undefined);
    if (component === undefined) return [`${release} is missing.`];
    const hash = component.hashes?.find(({ alg }) => alg === 'SHA-512')?.content ?? '';
    const expected = Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex');
    return hash === expected ? [] : [`${release} has the SHA-512 ${hash}, not ${expected}.`];
  });
  return [...superfluous, ...wrong];
}
