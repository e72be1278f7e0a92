import { parseArgs } from 'node:util';
import { messageOf } from '../../core/text/errors.ts';
import { isLoopback } from '../server/address.ts';
import type { CertificateFiles } from '../server/certificate.ts';

export interface StartOptions {
  frontEnd: 'auto' | 'desktop' | 'browser';
  /** Address on which the server for the browser listens. */
  host: string;
  /** The certificate's files; null: no TLS. */
  certificate: CertificateFiles | null;
  /** Port of the server for the browser; 0: any free port. */
  port: number;
  /** Whether to open a browser window beside printing the link. */
  isOpened: boolean;
  /** Whether to print a new link to the dashboard that runs already, and to start none. */
  isLinkOnly: boolean;
}

export const startHelp = `tutti dashboard [options]

  --browser     use the browser even if Electron is installed
  --desktop     use Electron, or fail
  --port <n>    port of the server; by default the last one, or any free port
  --no-open     print the link and open nothing
  --link        print a new link to the dashboard that runs already, and exit
  --host <address>    let other machines connect, such as 0.0.0.0; needs a certificate
  --tls-cert <file>   the server's certificate, in PEM, with those that lead to its authority
  --tls-key <file>    its private key, in PEM
  --help        show this help`;

/** @throws RangeError for an option that does not exist, an invalid port, or --browser together with --desktop */
export function parseStartOptions(args: readonly string[]): StartOptions | 'help' {
  const { browser, desktop, port, host = '127.0.0.1', help, link, 'no-open': noOpen, ...tls } = parse(args);
  if (help) return 'help';
  if (browser && desktop) throw new RangeError('--browser and --desktop exclude each other: use one of them.');
  const certificate = parseCertificate(tls['tls-cert'], tls['tls-key']);
  if (certificate === null && !isLoopback(host)) {
    throw new RangeError(
      `--host ${host} lets other machines connect, which needs TLS: give --tls-cert and --tls-key, or omit ` +
        '--host and use ssh -L.',
    );
  }
  const isServer = browser || host !== '127.0.0.1' || certificate !== null;
  if (isServer && desktop) throw new RangeError('--desktop has no server: omit --host, --tls-cert and --tls-key.');
  return {
    frontEnd: isServer ? 'browser' : desktop ? 'desktop' : 'auto',
    host,
    certificate,
    port: port === undefined ? 0 : parsePort(port),
    isOpened: !noOpen,
    isLinkOnly: link === true,
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
        host: { type: 'string' },
        'tls-cert': { type: 'string' },
        'tls-key': { type: 'string' },
        'no-open': { type: 'boolean' },
        link: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    throw new RangeError(`${messageOf(error)}\n${startHelp}`, { cause: error });
  }
}

function parseCertificate(certificate?: string, key?: string): CertificateFiles | null {
  if (certificate === undefined && key === undefined) return null;
  if (certificate !== undefined && key !== undefined) return { certificate, key };
  throw new RangeError('--tls-cert and --tls-key belong together: give both.');
}

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new RangeError(`--port ${text} is not a port: use a whole number from 1 to 65535, or omit it.`);
}
