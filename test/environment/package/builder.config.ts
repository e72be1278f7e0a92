import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import packaging from '../../../electron-builder.config.ts';

const root = join(import.meta.dirname, '../../..');

/**
 * The packages' configuration, with the Electron that `npm run setup:electron-test` prepared in place of the pinned
 * one, and with what that Electron lacks (test/environment/electron/app).
 */
export default {
  ...packaging,
  electronVersion: '33.2.1',
  electronDist: join(root, 'node_modules/.cache/tutti/electron'),
  directories: { ...packaging.directories, output: process.env.TUTTI_PACKAGE_OUTPUT },
  extraMetadata: { ...packaging.extraMetadata, main: 'stand-ins/packaged.mjs' },
  files: [...packaging.files, { from: 'test/environment/electron/app', to: 'stand-ins' }],
  asarUnpack: [...packaging.asarUnpack, 'stand-ins/**'],
  /** Removes the app that runs others, which the prepared Electron has for the other tests. */
  afterPack: ({ appOutDir }: { appOutDir: string }) => rm(join(appOutDir, 'resources', 'app'), { recursive: true }),
};
