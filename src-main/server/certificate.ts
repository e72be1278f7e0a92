import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { messageOf } from '../../core/text/errors.ts';
import { explainFileError } from '../../core/node/file-error.ts';

/** The files of `--tls-cert` and `--tls-key`, in PEM. */
export interface CertificateFiles {
  certificate: string;
  key: string;
}

/** What a server with TLS presents. */
export interface Identity {
  /** The certificate, and those that lead to its authority. */
  chain: string;
  key: string;
  certificate: X509Certificate;
}

const othersMayRead = 0o007;

/** Reads a certificate and its key. @throws Error with the remedy if they cannot be used now */
export async function readIdentity(files: CertificateFiles): Promise<Identity> {
  const chain = await read(files.certificate);
  const key = await read(files.key);
  const certificate = parse(files.certificate, 'certificate', () => new X509Certificate(chain));
  const privateKey = parse(files.key, 'private key without a passphrase', () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Error(
      `${files.key} is not the key of ${files.certificate}. Give the key that the certificate was made for.`,
    );
  }
  await refuseOpenKey(files.key);
  refuseOutOfDate(certificate, files.certificate);
  return { chain, key, certificate };
}

async function read(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    throw explainFileError(error, path, 'read');
  });
}

/** Who has the key can pose as this server. Windows has other permissions. */
async function refuseOpenKey(path: string): Promise<void> {
  const mode = (await stat(path)).mode & 0o777;
  if (process.platform === 'win32' || (mode & othersMayRead) === 0) return;
  throw new Error(
    `Every user of this machine may use ${path} (mode ${mode.toString(8)}), a private key. chmod 600 it.`,
  );
}

function parse<T>(path: string, what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`${path} is not a ${what} in PEM (${messageOf(error)}).`, { cause: error });
  }
}

function refuseOutOfDate({ validFrom, validTo }: X509Certificate, path: string): void {
  const nowMs = Date.now();
  if (Date.parse(validFrom) <= nowMs && nowMs <= Date.parse(validTo)) return;
  throw new Error(`${path} is valid from ${validFrom} to ${validTo}, so browsers refuse it now. Renew it.`);
}
