import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadProject } from '../../../workers/project/load-project.ts';

/** The outcome of loading a project with extra parts. */
async function load(parts: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-project-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const required = `name: 'p', description: '', hyperparameters: z.object({}), task: 'regression', data() {}, model() {}`;
  await writeFile(join(folder, 'project.mjs'), `import { z } from 'zod';\nexport default { ${required}, ${parts} };\n`);
  return loadProject(folder).then(
    () => 'loaded',
    (error: Error) => error.message,
  );
}

describe('loadProject', () => {
  it('accepts the parts of a project', async () => {
    expect(await load('defaults: { members: 3 }, loss() {}, callbacks() { return []; }, async figures() {}')).toBe(
      'loaded',
    );
  });

  it('refuses an unknown part, and suggests a known one', async () => {
    expect(await load('figure() {}')).toContain('figure: a project has no such property. Did you mean figures?');
    expect(await load('default: {}')).toContain('default: a project has no such property. Did you mean defaults?');
    expect(await load('somethingElseAltogether: 1')).toContain(
      'A project has name, description, hyperparameters, task',
    );
  });
});
