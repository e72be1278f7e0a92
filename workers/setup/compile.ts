import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const compiler = process.env.CXX ?? 'c++';

export const bindingFile = 'tfjs_binding.node';

/** @throws Error if there is no C++ compiler */
export async function checkCompiler(): Promise<void> {
  await promisify(execFile)(compiler, ['--version']).catch((cause: unknown) => {
    throw new Error(
      `There is no C++ compiler "${compiler}". Install one (on Debian and Ubuntu: apt install g++), or name it in CXX.`,
      { cause },
    );
  });
}

/**
 * Compiles tfjs-node's binding against the TensorFlow in `folder`, with the headers of the Node that runs this script.
 */
export async function compileBinding(folder: string): Promise<void> {
  const sources = ['tfjs_backend.cc', 'tfjs_binding.cc'].map((name) => join(folder, 'tfjs-node', 'binding', name));
  const includes = [nodeHeaders(), join(folder, 'tensorflow', 'include'), join(folder, 'tfjs-node')];
  await promisify(execFile)(compiler, [
    '-O2',
    '-std=c++17',
    '-shared',
    '-fPIC',
    '-DNAPI_VERSION=8',
    ...includes.map((path) => `-I${path}`),
    ...sources,
    `-L${join(folder, 'tensorflow')}`,
    '-l:libtensorflow_cc.so.2',
    '-l:libtensorflow_framework.so.2',
    // The loader finds the libraries relative to the binding, so that the folder can be moved.
    '-Wl,-rpath,$ORIGIN/tensorflow',
    '-o',
    join(folder, bindingFile),
  ]);
}

function nodeHeaders(): string {
  const folder = join(dirname(process.execPath), '..', 'include', 'node');
  if (existsSync(join(folder, 'node_api.h'))) return folder;
  throw new Error(
    `This Node (${process.execPath}) came without its headers in ${folder}. Start \`tutti setup\` with the Node that Tutti's package brings along.`,
  );
}
