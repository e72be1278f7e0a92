import { reportError, reportUncaught } from './cli/errors.ts';
import { guardOutputs } from './cli/outputs.ts';
import { createProgram } from './cli/program/program.ts';
import { followLauncher } from './processes/launcher-guard.ts';
import { protectTerminal } from './processes/terminal.ts';

/** The command `tutti`. */

reportUncaught();
protectTerminal();
guardOutputs();
followLauncher();
try {
  const openDashboard = async (args: string[]): Promise<number> => (await import('./start.ts')).openDashboard(args);
  await createProgram({ openDashboard }).parseAsync();
} catch (error) {
  process.exitCode = reportError(error);
}
