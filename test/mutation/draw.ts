import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Generator } from '../../workers/random/generator.ts';
import type { Area } from './areas.ts';
import { findSites, type Site } from './sites.ts';

/** One change of one file. */
export interface Mutant {
  /** Area and place in the area's seeded order: `metrics-17`. */
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
 * The mutants of an area in the order in which they are tried: a seeded permutation of its sites, each with one of its replacements.
 * A run takes as many as it wants from the front.
 */
export function shuffleMutants(area: Area, sites: readonly Site[], seed: number): Mutant[] {
  const generator = new Generator(seed, `mutation/${area.name}`);
  return Array.from(generator.permutation(sites.length), (index, place) => {
    const site = sites[index];
    const replacement = site.replacements[generator.integer(site.replacements.length)];
    return { name: `${area.name}-${place + 1}`, area, site, replacement };
  });
}
