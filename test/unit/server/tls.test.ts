import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { get as getPlain } from 'node:http';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import { certifiedAddress, isLoopback, ownHost } from '../../../src-main/server/address.ts';
import { type CertificateFiles, readIdentity } from '../../../src-main/server/certificate.ts';
import { ExportLinks } from '../../../src-main/server/export-links.ts';
import { type RunningServer, type ServerOptions, startServer } from '../../../src-main/server.ts';
import { proofOf } from '../../../src-renderer/client/session-proof.ts';
import { notRun } from '../../environment/reasons.ts';
import { makeCertificate, noOpenssl } from './certificates.ts';

function options(folder: string): ServerOptions {
  return {
    port: 0,
    pageFolder: folder,
    exportFolder: folder,
    exportLinks: new ExportLinks(),
    connect: () => () => undefined,
    onError: () => undefined,
    onNotice: () => undefined,
  };
}

describe('an address to listen on', () => {
  it.each(['127.0.0.1', '127.0.0.2', 'localhost', '::1'])('is reached from this machine only: %s', (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each(['0.0.0.0', '::', '192.168.0.7', '10.0.0.1', 'workstation', '127.evil.example', '::ffff:10.0.0.1', ''])(
    'is reached from elsewhere, so it needs TLS: %s',
    async (host) => {
      expect(isLoopback(host)).toBe(false);
      await expect(startServer({ ...options('/nowhere'), host })).rejects.toThrow('which needs TLS');
    },
  );
});

describe.skipIf(noOpenssl !== null)(`A server with a certificate${notRun(noOpenssl)}`, () => {
  let folder: string;
  let files: CertificateFiles;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tutti-tls-'));
    await mkdir(join(folder, 'page'));
    await writeFile(join(folder, 'page', 'index.html'), '<h1>Runs</h1>');
    files = makeCertificate(folder, 'DNS:tutti.test,DNS:*.lab.test,IP:127.0.0.1');
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function serve(): Promise<RunningServer> {
    const identity = await readIdentity(files);
    const server = await startServer({ ...options(join(folder, 'page')), host: '0.0.0.0', identity });
    onTestFinished(() => server.close());
    return server;
  }

  interface Answer {
    status: number | undefined;
    headers: NodeJS.Dict<string | string[]>;
    body: string;
  }

  function request(server: RunningServer, path: string, headers: Record<string, string>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const target = { host: '127.0.0.1', port: server.port, path, headers, rejectUnauthorized: false };
      get(target, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }));
      }).on('error', reject);
    });
  }

  it('has a secure cookie of this host, and opens its own secure socket', async () => {
    const server = await serve();
    const link = new URL(server.link);
    expect([link.protocol, link.hostname]).toEqual(['https:', 'tutti.test']);
    const { host } = link;
    const entered = await request(server, `/${link.search}`, { host });
    expect(String(entered.headers['set-cookie'])).toMatch(
      new RegExp(
        `^__Host-tutti-${server.port}=[\\w-]{43}; Max-Age=2592000; HttpOnly; SameSite=Strict; Path=/; Secure$`,
      ),
    );
    const [cookie] = String(entered.headers['set-cookie']).split(';');
    const key = /content="([\w-]{43})"/.exec(entered.body)?.[1] ?? '';
    const page = await request(server, '/', { host, cookie });
    expect([page.status, page.body]).toEqual([200, '<h1>Runs</h1>']);
    expect(page.headers['content-security-policy']).toContain(`connect-src 'self' wss://${host};`);
    const open = async (origin: string) => {
      const { body: challenge } = await request(server, '/challenge', { host, cookie });
      const proof = `${challenge}.${await proofOf(key, challenge)}`;
      return new Promise<number>((resolve) => {
        const headers = { host, cookie, origin };
        const socket = new WebSocket(`wss://127.0.0.1:${server.port}/rpc`, ['tutti', proof], {
          headers,
          rejectUnauthorized: false,
        });
        socket.on('error', () => undefined);
        socket.on('open', () => {
          socket.terminate();
          resolve(101);
        });
        socket.on('unexpected-response', (_request, response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
      });
    };
    expect(await open(`https://${host}`)).toBe(101);
    expect(await open(`http://${host}`)).toBe(403);
    expect(await open('https://other.test')).toBe(403);
  });

  it('answers only to the names of its certificate', async () => {
    const server = await serve();
    const statusOf = async (host: string) => (await request(server, '/', { host })).status;
    for (const host of ['tutti.test', 'gpu7.lab.test', '127.0.0.1'])
      expect([host, await statusOf(`${host}:${server.port}`)]).toEqual([host, 401]);
    for (const host of ['evil.example', 'localhost', 'a.b.lab.test', '10.0.0.1', '[::1]']) {
      expect([host, await statusOf(`${host}:${server.port}`)]).toEqual([host, 403]);
    }
    expect(await statusOf('tutti.test')).toBe(403);
  });

  it('does not speak without TLS', async () => {
    const server = await serve();
    const plain = new Promise<number>((resolve, reject) => {
      getPlain({ host: '127.0.0.1', port: server.port }, (response) => resolve(response.statusCode ?? 0)).on(
        'error',
        reject,
      );
    });
    await expect(plain).rejects.toThrow(/socket hang up|ECONNRESET|Parse Error/);
  });

  it('makes links with a name of the certificate, and none for a machine that it does not name', () => {
    const certificate = new X509Certificate(readFileSync(files.certificate));
    expect(certifiedAddress(1, '0.0.0.0', certificate).linkHost).toBe('tutti.test');
    expect(certifiedAddress(1, 'gpu7.lab.test', certificate).linkHost).toBe('gpu7.lab.test');
    expect(ownHost('gpu7.lab.test', certifiedAddress(443, '::', certificate))).toBe('gpu7.lab.test');
    const wild = new X509Certificate(readFileSync(makeCertificate(join(folder, 'page'), 'DNS:*.lab.test').certificate));
    expect(() => certifiedAddress(1, '0.0.0.0', wild)).toThrow('Name the machine with --host');
  });

  it('refuses files that cannot work, with the reason', async () => {
    const other = await mkdtemp(join(tmpdir(), 'tutti-tls-'));
    onTestFinished(() => rm(other, { recursive: true }));
    const foreign = makeCertificate(other, 'DNS:tutti.test');
    await expect(readIdentity({ ...files, key: foreign.key })).rejects.toThrow('is not the key of');
    await expect(readIdentity({ ...files, certificate: files.key })).rejects.toThrow('is not a certificate in PEM');
    await expect(readIdentity({ ...files, key: files.certificate })).rejects.toThrow('is not a private key');
    await expect(readIdentity({ ...files, key: join(other, 'absent') })).rejects.toThrow('does not exist');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3 * 86_400_000 });
    onTestFinished(() => void vi.useRealTimers());
    await expect(readIdentity(files)).rejects.toThrow('so browsers refuse it now. Renew it.');
    vi.useRealTimers();
    await chmod(foreign.key, 0o604);
    await expect(readIdentity(foreign)).rejects.toThrow('Every user of this machine may use');
  });
});
