import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import type { CertificateFiles } from '../../../src-main/server/certificate.ts';

export const noOpenssl = ((): string | null => {
  try {
    execFileSync('openssl', ['version']);
    return null;
  } catch {
    return 'openssl is not installed';
  }
})();

/** A certificate that nobody trusts. @param names such as `DNS:localhost,IP:127.0.0.1` */
export function makeCertificate(folder: string, names: string, days = 2): CertificateFiles {
  const files = { certificate: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  const subject = ['-subj', '/CN=tutti.test', '-addext', `subjectAltName=${names}`];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', files.key];
  execFileSync('openssl', ['req', '-x509', ...key, '-out', files.certificate, '-days', String(days), ...subject], {
    stdio: 'pipe',
  });
  chmodSync(files.key, 0o600);
  return files;
}
