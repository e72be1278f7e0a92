/** The fields of the repository's `package.json` that the published one keeps. */
export interface RepositoryManifest {
  name: string;
  version: string;
  description: string;
  license: string;
  homepage: string;
  engines: Record<string, string>;
  bin: Record<string, string>;
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
}

/** The `package.json` of the published package: compiled files instead of sources, and neither scripts nor tools. */
export function packageManifest(repository: RepositoryManifest) {
  const { name, version, description, license, homepage, engines, bin, dependencies, optionalDependencies } =
    repository;
  return {
    name,
    version,
    description,
    license,
    homepage,
    type: 'module',
    engines,
    bin,
    exports: {
      '.': { types: './workers/index.d.ts', default: './workers/index.js' },
      './browser': { types: './workers/inference/browser.d.ts', default: './workers/inference/browser.js' },
      './package.json': './package.json',
    },
    files: ['core', 'src-main', 'workers', 'out', 'examples', 'templates', 'docs', 'THIRD-PARTY-LICENCES.md'],
    dependencies,
    optionalDependencies,
  };
}
