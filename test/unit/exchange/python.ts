import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const python = process.env.TUTTI_PYTHON ?? 'python3';

function has(...modules: string[]): boolean {
  const check = `import importlib.util as u, sys; sys.exit(not all(u.find_spec(m) for m in ${JSON.stringify(modules)}))`;
  return spawnSync(python, ['-c', check]).status === 0;
}

/** Reasons why comparisons in Python cannot run here, or null. */
export const noTorch = has('torch', 'safetensors') ? null : 'no python3 here has torch and safetensors';
export const noOnnx = noTorch ?? (has('onnx', 'onnxruntime') ? null : 'no python3 here has onnx and onnxruntime');

export const noTritonClient = has('tritonclient', 'numpy') ? null : 'no python3 here has tritonclient';

/** What `compare.py` says of a folder. */
export interface Compared {
  folder: string;
  error: number;
  failure?: string;
}

/** Compares exported models with expected values, in one process of Python. */
export function compareInPython(folders: readonly string[]): Compared[] {
  const script = fileURLToPath(new URL('compare.py', import.meta.url));
  const output = execFileSync(python, [script, ...folders], { encoding: 'utf8', maxBuffer: 2 ** 26 });
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Compared);
}
