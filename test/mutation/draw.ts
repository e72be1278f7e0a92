import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Area } from './areas.ts';
import { findSites, type Site } from './sites.ts';

/** One change of one file. */
export interface Mutant {
  /** Area and the start of its hash: `metrics-3fa2c1d0`. */
  name: string;
  area: Area;
  site: Site;
  replacement: string;
}

/** Files of the working tree that git does not ignore, relative to `root`. */
export function listFiles(root: string): string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter((file) => file !== '');
}

/** Every site of an area, in the order of files and positions. */
export function listSites(root: string, area: Area, files: readonly string[]): Site[] {
  return files
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    .filter((file) => area.sources.some((source) => (source.endsWith('/') ? file.startsWith(source) : file === source)))
    .toSorted()
    .flatMap((file) => findSites(file, readFileSync(join(root, file), 'utf8')));
}

/**
 * The mutants of an area in the order in which they are tried: by a hash of the seed and the site's text, which also
 * chooses the replacement. A run takes the first ones, so that a change of one file changes few of the drawn mutants.
 */
export function orderMutants(area: Area, sites: readonly Site[], seed: number): Mutant[] {
  const seen = new Map<string, number>();
  const mutants = sites.map((site) => {
    const identity = [seed, site.file, site.lineText, site.operator, site.original].join('\n');
    const occurrence = seen.get(identity) ?? 0;
    seen.set(identity, occurrence + 1);
    const hash = createHash('sha256').update(`${identity}\n${occurrence}`).digest();
    const replacement = site.replacements[hash[31] % site.replacements.length];
    return { hash, mutant: { name: `${area.name}-${hash.toString('hex', 0, 4)}`, area, site, replacement } };
  });
  return mutants.toSorted((a, b) => a.hash.compare(b.hash)).map(({ mutant }) => mutant);
}
