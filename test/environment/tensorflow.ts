import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { nativeFolderVariable } from '../../core/protocol/machine/devices.ts';
import { testHome } from './test-home.ts';

export const nativeFolder = join(testHome, 'native', 'tensorflow');

/**
 * Names the TensorFlow that `npm run test:setup` made to this process and its children.
 * @returns null, or why tests cannot use it here
 */
export function useTensorflow(): string | null {
  if (!existsSync(nativeFolder)) return 'TensorFlow is not set up: npm run test:setup';
  process.env[nativeFolderVariable] = nativeFolder;
  return null;
}
