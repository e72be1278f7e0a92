import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FileLock } from '../../../core/node/file-lock.ts';
import { fetchFile } from '../../../workers/data/sources/download.ts';
import type { DownloadProgress } from '../../../workers/data/sources/download.ts';
import { obtainFile } from '../../../workers/data/sources/locate.ts';
import { sendFile, serve } from './file-server.ts';
import { temporaryFolder } from './temp-folder.ts';

const content = Buffer.from(Uint8Array.from({ length: 300_000 }, (_, i) => (i * i) % 251));
const sha256 = createHash('sha256').update(content).digest('hex');

function remoteFile(...urls: string[]) {
  return { name: 'file.bin', urls, sha256, bytes: content.length };
}

/** The remains of a broken connection or a killed process. */
async function folderWithPart(part: Buffer, etag?: string): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'file.bin.part'), part);
  if (etag !== undefined) await writeFile(join(folder, 'file.bin.part.etag'), etag);
  return folder;
}

/** The content of a folder with only the correct file after a download. */
const onlyTheFile = { names: ['file.bin'], sha256 };

/** The lock's empty file stays. */
async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name !== '.file.bin.lock');
}

async function contentOf(folder: string) {
  const file = await readFile(join(folder, 'file.bin'));
  const names = await namesIn(folder);
  return { names, sha256: createHash('sha256').update(file).digest('hex') };
}

describe('fetchFile', () => {
  it('downloads into a new folder, reports progress, and leaves nothing else behind', async () => {
    const server = await serve((request, response) => sendFile(content, request, response));
    const folder = join(await temporaryFolder(), 'a', 'b');
    const received: number[] = [];
    const path = await fetchFile(
      { ...remoteFile(server.url), folder },
      {
        onProgress: ({ name, receivedBytes, totalBytes }) => {
          expect([name, totalBytes]).toEqual(['file.bin', 300_000]);
          received.push(receivedBytes);
        },
      },
    );
    expect(path).toBe(join(folder, 'file.bin'));
    expect(received.at(-1)).toBe(300_000);
    expect(received).toEqual(received.toSorted((a, b) => a - b));
    expect(await contentOf(folder)).toEqual(onlyTheFile);
    expect(server.requests[0]).toMatchObject({ 'accept-encoding': 'identity' });
  });

  it('leaves an existing file unchanged', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'file.bin'), 'mine');
    await fetchFile({ ...remoteFile('http://127.0.0.1:1/'), folder });
    expect(await readFile(join(folder, 'file.bin'), 'utf8')).toBe('mine');
  });

  it('continues after a broken connection, within the same call', async () => {
    const cuts: (() => void)[] = [];
    const server = await serve((request, response) => {
      cuts.push(() => response.destroy());
      sendFile(content, request, response, { bytes: 100_000 });
    });
    const folder = await temporaryFolder();
    const onProgress = ({ receivedBytes }: DownloadProgress) => {
      if (receivedBytes % 100_000 === 0) cuts.at(-1)?.();
    };
    await fetchFile({ ...remoteFile(server.url), folder }, { onProgress });
    expect(await contentOf(folder)).toEqual(onlyTheFile);
    expect(server.requests.map(({ range }) => range)).toEqual([undefined, 'bytes=100000-', 'bytes=200000-']);
    expect(server.requests[1]['if-range']).toBe('"1"');
  });

  it('continues the download of an earlier process', async () => {
    const server = await serve((request, response) => sendFile(content, request, response));
    const folder = await folderWithPart(content.subarray(0, 123_456), '"1"');
    await fetchFile({ ...remoteFile(server.url), folder });
    expect(await contentOf(folder)).toEqual(onlyTheFile);
    expect(server.requests).toMatchObject([{ range: 'bytes=123456-', 'if-range': '"1"' }]);
  });

  it('only verifies a file that an earlier process has received completely', async () => {
    const folder = await folderWithPart(content);
    await fetchFile({ ...remoteFile('http://127.0.0.1:1/'), folder });
    expect(await contentOf(folder)).toEqual(onlyTheFile);
  });

  it('restarts if the ETag shows that the file has changed', async () => {
    const server = await serve((request, response) => sendFile(content, request, response, { etag: '"2"' }));
    const folder = await folderWithPart(Buffer.alloc(1000, 7), '"1"');
    await fetchFile({ ...remoteFile(server.url), folder });
    expect(await contentOf(folder)).toEqual(onlyTheFile);
    expect(server.requests.length).toBe(1);
  });

  it('restarts if the server ignores ranges', async () => {
    const server = await serve((_, response) => response.end(content));
    const folder = await folderWithPart(Buffer.alloc(250_000, 7));
    await fetchFile({ ...remoteFile(server.url), folder });
    expect(await contentOf(folder)).toEqual(onlyTheFile);
  });

  it('restarts once if the continued file turns out to be another one', async () => {
    const server = await serve((request, response) => sendFile(content, request, response));
    const folder = await folderWithPart(Buffer.alloc(1000, 7));
    await fetchFile({ ...remoteFile(server.url), folder });
    expect(await contentOf(folder)).toEqual(onlyTheFile);
    expect(server.requests.map(({ range }) => range)).toEqual(['bytes=1000-', undefined]);
  });

  it('tries the next address', async () => {
    const gone = await serve((_, response) => response.writeHead(404).end());
    const good = await serve((request, response) => sendFile(content, request, response));
    const folder = await temporaryFolder();
    await fetchFile({ ...remoteFile(gone.url, good.url), folder });
    expect(await contentOf(folder)).toEqual(onlyTheFile);
  });

  it('follows redirects', async () => {
    const good = await serve((request, response) => sendFile(content, request, response));
    const moved = await serve((_, response) => response.writeHead(302, { location: good.url }).end());
    const folder = await temporaryFolder();
    await fetchFile({ ...remoteFile(moved.url), folder });
    expect(await contentOf(folder)).toEqual(onlyTheFile);
  });
});

describe('fetchFile reports one reason per address', () => {
  async function failureOf(answer: Parameters<typeof serve>[0]) {
    const server = await serve(answer);
    const folder = await temporaryFolder();
    const error: unknown = await fetchFile({ ...remoteFile(server.url), folder }, { silenceMs: 200 }).catch(
      (reason: unknown) => reason,
    );
    return { message: error instanceof Error ? error.message : '', files: await namesIn(folder), server };
  }

  it('for an error status', async () => {
    const { message, files, server } = await failureOf((_, response) => response.writeHead(404).end('no'));
    expect(message).toBe(`file.bin could not be downloaded:\n  ${server.url}: HTTP 404 Not Found`);
    expect(files).toEqual([]);
  });

  it('for other content of the right length, which is deleted', async () => {
    const { message, files } = await failureOf((_, response) => response.end(Buffer.alloc(300_000, 1)));
    expect(message).toContain(`expected ${sha256}; what was received has been deleted`);
    expect(files).toEqual([]);
  });

  it('for another length, without receiving it', async () => {
    const { message, files } = await failureOf((_, response) => response.end('<html>please log in</html>'));
    expect(message).toContain('it offers 26 bytes, the official file has 300,000 bytes');
    expect(files).toEqual([]);
  });

  it('for more than the expected length', async () => {
    const { message } = await failureOf((_, response) => {
      response.write(content);
      response.end(content);
    });
    expect(message).toContain('it sends more than the expected 300,000 bytes');
  });

  it('for a range that was not requested', async () => {
    const server = await serve((_, response) => {
      response.writeHead(206, { 'content-range': 'bytes 5-299999/300000' }).end(content.subarray(5));
    });
    const folder = await folderWithPart(content.subarray(0, 10));
    await expect(fetchFile({ ...remoteFile(server.url), folder })).rejects.toThrow(
      'asked for bytes 10 to 299999 of 300000, it answers with "bytes 5-299999/300000"',
    );
    expect((await stat(join(folder, 'file.bin.part'))).size).toBe(10);
  });

  it('for a server that never answers', async () => {
    const { message } = await failureOf(() => undefined);
    expect(message).toContain('the server was silent for 200 ms');
  });

  it('for a server that stalls, and keeps the received bytes', async () => {
    const { message, files } = await failureOf((_, response) => {
      response.writeHead(200, { 'content-length': content.length });
      response.write(content.subarray(0, 1000));
    });
    expect(message).toContain('the server was silent for 200 ms');
    expect(files).toEqual(['file.bin.part']);
  });

  it('for a connection that always breaks at the same byte', async () => {
    let cut: () => void;
    const server = await serve((_, response) => {
      cut = () => response.destroy();
      response.writeHead(200, { 'content-length': content.length }).write(content.subarray(0, 1000));
    });
    const file = { ...remoteFile(server.url), folder: await temporaryFolder() };
    await expect(fetchFile(file, { onProgress: () => cut() })).rejects.toThrow(`${server.url}: terminated`);
    expect(server.requests.length).toBe(2);
  });

  it('for a port without a listener', async () => {
    const folder = await temporaryFolder();
    const failure = fetchFile({ ...remoteFile('http://127.0.0.1:1/', 'http://127.0.0.1:1/b'), folder });
    await expect(failure).rejects.toThrow(/127.0.0.1:1\/: fetch failed: .*\n.*127.0.0.1:1\/b: fetch failed/);
  });

  it('unless it was aborted', async () => {
    const abort = new AbortController();
    const server = await serve(() => abort.abort(new Error('the user has stopped the run')));
    const folder = await temporaryFolder();
    await expect(fetchFile({ ...remoteFile(server.url), folder }, { signal: abort.signal })).rejects.toThrow(
      'the user has stopped the run',
    );
    expect(await namesIn(folder)).toEqual([]);
  });
});

describe('fetchFile in several processes', () => {
  const program = `
    const { fetchFile } = await import(${JSON.stringify(resolve(import.meta.dirname, '../../../workers/data/sources/download.ts'))});
    console.log(await fetchFile(JSON.parse(process.argv[1])));
  `;
  function start(file: object) {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program, JSON.stringify(file)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    return child;
  }

  it('downloads once', async () => {
    const server = await serve((request, response) => sendFile(content, request, response));
    const folder = await temporaryFolder();
    const processes = [1, 2, 3].map(() => start({ ...remoteFile(server.url), folder }));
    const exits = await Promise.all(processes.map((child) => once(child, 'exit')));
    expect(exits).toEqual([
      [0, null],
      [0, null],
      [0, null],
    ]);
    expect(server.requests.length).toBe(1);
    expect(await contentOf(folder)).toEqual(onlyTheFile);
  });

  it('continues the work of a killed process despite its lock', async () => {
    const folder = await temporaryFolder();
    const server = await serve((request, response) => {
      if (server.requests.length > 1) sendFile(content, request, response);
      else
        response.writeHead(200, { etag: '"1"', 'content-length': content.length }).write(content.subarray(0, 200_000));
    });
    const file = { ...remoteFile(server.url), folder };
    const child = start(file);
    const received = async () => (await readFile(join(folder, 'file.bin.part')).catch(() => Buffer.alloc(0))).length;
    await expect.poll(received).toBe(200_000);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await fetchFile(file);
    expect(server.requests[1]).toMatchObject({ range: 'bytes=200000-', 'if-range': '"1"' });
    expect(await contentOf(folder)).toEqual(onlyTheFile);
  });

  it('waits for a live process until it is aborted', async () => {
    const folder = await temporaryFolder();
    const lock = FileLock.tryTake(join(folder, '.file.bin.lock'));
    onTestFinished(() => lock?.release());
    const signal = AbortSignal.timeout(300);
    await expect(fetchFile({ ...remoteFile('http://127.0.0.1:1/'), folder }, { signal })).rejects.toThrow('abort');
    expect(await namesIn(folder)).toEqual([]);
  });

  it('downloads without a lock where there can be none, and says so', async () => {
    const server = await serve((request, response) => sendFile(content, request, response));
    const folder = await temporaryFolder();
    // Like a file system without locks: SQLite cannot open a folder.
    await mkdir(join(folder, '.file.bin.lock'));
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    onTestFinished(() => warn.mockRestore());
    await fetchFile({ ...remoteFile(server.url), folder });
    expect(await contentOf(folder)).toEqual(onlyTheFile);
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/^Cannot lock .*several processes may download/)]]);
  });
});

describe('obtainFile', () => {
  const nowhere = 'http://127.0.0.1:1/';

  it("prefers the user's folder to the cache, whatever its content", async () => {
    const [lookup, cache] = [await temporaryFolder(), await temporaryFolder()];
    await mkdir(join(cache, 'mnist'));
    await writeFile(join(cache, 'mnist', 'file.bin'), 'cached');
    expect(await obtainFile(remoteFile(nowhere), 'mnist', { lookup, cache })).toBe(join(cache, 'mnist', 'file.bin'));
    await writeFile(join(lookup, 'file.bin'), 'mine');
    expect(await obtainFile(remoteFile(nowhere), 'mnist', { lookup, cache })).toBe(join(lookup, 'file.bin'));
  });

  it('downloads into the cache a file that is in neither', async () => {
    const server = await serve((request, response) => sendFile(content, request, response));
    const cache = await temporaryFolder();
    const path = await obtainFile(remoteFile(server.url), 'mnist', { lookup: null, cache });
    expect(path).toBe(join(cache, 'mnist', 'file.bin'));
    expect(await contentOf(join(cache, 'mnist'))).toEqual(onlyTheFile);
  });

  it('offline, names what was tried and which file to put where', async () => {
    const [lookup, cache] = [await temporaryFolder(), await temporaryFolder()];
    const failure = obtainFile(remoteFile(nowhere), 'mnist', { lookup, cache });
    await expect(failure).rejects.toThrow(`file.bin could not be downloaded:\n  ${nowhere}: fetch failed`);
    await expect(failure).rejects.toThrow(
      `\nPut file.bin (300,000 bytes) into ${lookup}/mnist (TUTTI_DATA is ${lookup}), or into ${cache}/mnist.`,
    );
  });
});
