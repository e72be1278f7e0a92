import { parseArgs } from 'node:util';
import { messageOf } from '../../core/text/errors.ts';

export interface StartOptions {
  frontEnd: 'auto' | 'desktop' | 'browser';
  /** Port of the server for the browser; 0: any free port. */
  port: number;
  /** Whether to open a browser window beside printing the link. */
  isOpened: boolean;
}

export const startHelp = `npm start -- [options]

  --browser     use the browser even if Electron is installed
  --desktop     use Electron, or fail
  --port <n>    port of the server; by default any free port
  --no-open     print the link and open nothing
  --help        show this help`;

/** @throws RangeError for an option that does not exist, an invalid port, or --browser together with --desktop */
export function parseStartOptions(args: readonly string[]): StartOptions | 'help' {
  const { browser, desktop, port, help, 'no-open': noOpen } = parse(args);
  if (help) return 'help';
  if (browser && desktop) throw new RangeError('--browser and --desktop exclude each other: use one of them.');
  return {
    frontEnd: browser ? 'browser' : desktop ? 'desktop' : 'auto',
    port: port === undefined ? 0 : parsePort(port),
    isOpened: !noOpen,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        browser: { type: 'boolean' },
        desktop: { type: 'boolean' },
        port: { type: 'string' },
        'no-open': { type: 'boolean' },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    throw new RangeError(`${messageOf(error)}\n${startHelp}`, { cause: error });
  }
}

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new RangeError(`--port ${text} is not a port: use a whole number from 1 to 65535, or omit it.`);
}
