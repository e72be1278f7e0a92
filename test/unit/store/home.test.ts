import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { compileCache, dataFolders, homePaths, tuttiHome } from '../../../src-main/store/home.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('tuttiHome', () => {
  it('is TUTTI_HOME, or .tutti in the home folder by default', () => {
    vi.stubEnv('TUTTI_HOME', '/disk/tutti');
    expect(tuttiHome()).toBe(resolve('/disk/tutti'));
    vi.stubEnv('TUTTI_HOME', 'relative');
    expect(tuttiHome()).toBe(resolve('relative'));
    for (const unset of [undefined, '']) {
      vi.stubEnv('TUTTI_HOME', unset);
      expect(tuttiHome()).toBe(join(homedir(), '.tutti'));
    }
  });

  it('contains runs, cache and index', () => {
    expect(homePaths('/h')).toEqual({
      runs: join('/h', 'runs'),
      discoveries: join('/h', 'discoveries'),
      studies: join('/h', 'studies'),
      cache: join('/h', 'cache'),
      data: join('/h', 'cache', 'data'),
      index: join('/h', 'index.sqlite'),
      externalRuns: join('/h', 'external-runs.txt'),
      trainedSources: join('/h', 'trained-sources.txt'),
      projects: join('/h', 'projects.json'),
      projectTitles: join('/h', 'cache', 'project-titles.json'),
      exports: join('/h', 'exports'),
      comparisons: join('/h', 'comparisons'),
      dashboard: join('/h', 'dashboard'),
      diskQuota: join('/h', 'disk-quota.json'),
      examples: join('/h', 'examples'),
      forgottenProjects: join('/h', 'forgotten-projects.json'),
      launches: join('/h', 'launches'),
      reachable: join('/h', 'reachable'),
      queue: join('/h', 'queue.json'),
      trash: join('/h', 'trash'),
      trust: join('/h', 'trusted.json'),
      updates: join('/h', 'updates.json'),
      recentDocuments: join('/h', 'recent-documents.json'),
      window: join('/h', 'window.json'),
      desktop: join('/h', 'desktop'),
      tensorflow: join('/h', 'native', 'tensorflow'),
      webgpu: join('/h', 'native', 'webgpu'),
      blas: join('/h', 'native', 'blas'),
    });
  });
});

describe('compileCache', () => {
  it('is in the cache unless the user has chosen another', () => {
    vi.stubEnv('TUTTI_HOME', '/disk/tutti');
    vi.stubEnv('NODE_COMPILE_CACHE', undefined);
    expect(compileCache()).toBe(join('/disk/tutti', 'cache', 'compile'));
    vi.stubEnv('NODE_COMPILE_CACHE', '/fast/compiled');
    expect(compileCache()).toBe('/fast/compiled');
  });
});

describe('dataFolders', () => {
  it('searches TUTTI_DATA first if it is set', () => {
    vi.stubEnv('TUTTI_HOME', '/h');
    vi.stubEnv('TUTTI_DATA', '/data');
    expect(dataFolders()).toEqual({ lookup: resolve('/data'), cache: resolve('/h/cache/data') });
    vi.stubEnv('TUTTI_DATA', undefined);
    expect(dataFolders().lookup).toBeNull();
  });
});
