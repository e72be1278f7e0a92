import { reportError } from '../../../src-main/cli/errors.ts';
import { createProgram } from '../../../src-main/cli/program/program.ts';

export interface Ended {
  code: number;
  /** Standard output and standard error together. */
  output: string;
}

/** Runs `tutti` with these arguments in this process. One at a time: they share the process's outputs. */
export async function runCommand(args: string[]): Promise<Ended> {
  const { stdout, stderr, exitCode } = process;
  const before = { write: stdout.write.bind(stdout), writeError: stderr.write.bind(stderr), log: console.error };
  let output = '';
  const take = (text: string | Uint8Array): boolean => {
    output += typeof text === 'string' ? text : Buffer.from(text).toString();
    return true;
  };
  stdout.write = take;
  stderr.write = take;
  console.error = (...texts: unknown[]) => void take(`${texts.join(' ')}\n`);
  try {
    process.exitCode = 0;
    await createProgram({ openDashboard: () => Promise.resolve(0) }).parseAsync(args, { from: 'user' });
    return { code: process.exitCode, output };
  } catch (error) {
    const code = reportError(error);
    return { code, output };
  } finally {
    stdout.write = before.write;
    stderr.write = before.writeError;
    console.error = before.log;
    process.exitCode = exitCode;
  }
}
