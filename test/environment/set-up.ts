/**
 * `npm run test:setup [-- tensorflow] [-- webgpu]`: sets up the backends that npm does not install, if they are missing. Tests use them if
 * they are present, and never install anything.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { nativeFolder } from './tensorflow.ts';
import { repository, testHome } from './test-home.ts';
import { webgpuFolder } from './webgpu.ts';

const backends = {
  tensorflow: { folder: nativeFolder, options: [] },
  webgpu: { folder: webgpuFolder, options: ['--webgpu'] },
};
type Backend = keyof typeof backends;

const asked = process.argv.slice(2);
const isBackend = (name: string): name is Backend => name in backends;
const unknown = asked.find((name) => !isBackend(name));
if (unknown !== undefined) throw new Error(`There is no backend "${unknown}" to set up, only tensorflow and webgpu.`);

const tutti = join(repository, 'src-main', 'tutti.mjs');

for (const name of asked.length === 0 ? (['tensorflow', 'webgpu'] as const) : asked.filter(isBackend)) {
  const { folder, options } = backends[name];
  if (existsSync(folder)) {
    console.log(`${name} is set up in ${folder}.`);
    continue;
  }
  const env = { ...process.env, TUTTI_HOME: testHome };
  const { status } = spawnSync(process.execPath, [tutti, 'setup', ...options], { env, stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
