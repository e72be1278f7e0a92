import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createHash, createHmac } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Challenges, hashOf, isProofOf } from '../../../src-main/server/access.ts';
import { askForLink, serveLinks } from '../../../src-main/server/link-socket.ts';
import { proofOf } from '../../../src-renderer/client/session-proof.ts';
import { request, serve, signIn, socketHeaders, upgradeStatus } from './served.ts';

let folder: string;

beforeEach(async () => {
  const home = await mkdtemp(join(tmpdir(), 'tutti-sessions-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  folder = join(home, 'dashboard');
});

describe('a proof of a key', () => {
  const key = Buffer.from(Uint8Array.from({ length: 32 }, (_, index) => index));

  it('is the key, XOR the HMAC of the challenge with the SHA-256 of the key', async () => {
    const hash = createHash('sha256').update(key).digest();
    const mask = createHmac('sha256', hash).update('a challenge').digest();
    const expected = Buffer.from(key.map((byte, index) => byte ^ mask[index])).toString('base64url');
    expect(await proofOf(key.toString('base64url'), 'a challenge')).toBe(expected);
  });

  it('shows that the page has the key, for one challenge', async () => {
    const proof = await proofOf(key.toString('base64url'), 'one');
    expect(isProofOf(hashOf(key), 'one', proof)).toBe(true);
    expect(isProofOf(hashOf(key), 'another', proof)).toBe(false);
    expect(isProofOf(hashOf('another key'), 'one', proof)).toBe(false);
    for (const wrong of ['', 'none', key.toString('base64url'), hashOf(key), proof.slice(1)]) {
      expect(isProofOf(hashOf(key), 'one', wrong)).toBe(false);
    }
  });

  it('needs a challenge that the server made, once and within a minute', () => {
    const challenges = new Challenges();
    const [first, late] = [challenges.create(0), challenges.create(0)];
    expect(challenges.use('invented', 0)).toBe(false);
    expect(challenges.use(first, 60_000)).toBe(true);
    expect(challenges.use(first, 60_000)).toBe(false);
    expect(challenges.use(late, 60_001)).toBe(false);
  });

  it('waits with at most 1000 others', () => {
    const challenges = new Challenges();
    const all = Array.from({ length: 1001 }, () => challenges.create(0));
    expect(challenges.use(all[0], 0)).toBe(false);
    expect(challenges.use(all[1], 0)).toBe(true);
  });
});

describe("an owner's session", () => {
  it('continues with the next server on the same port, which is the same port unless it is taken', async () => {
    const first = await serve({ sessionFolder: folder });
    const credentials = await signIn(first.server);
    await first.server.close();
    const second = await serve({ sessionFolder: folder });
    expect(second.server.port).toBe(first.server.port);
    expect((await request(second.server, '/', { cookie: credentials.cookie })).status).toBe(200);
    expect(await upgradeStatus(second.server, await socketHeaders(second.server, credentials))).toBe(101);
    const third = await serve({ sessionFolder: folder });
    expect(third.server.port).not.toBe(second.server.port);
    expect((await request(third.server, '/', { cookie: credentials.cookie })).status).toBe(401);
  });

  it('is on the disk as hashes, in a folder of this user alone', async () => {
    const { server } = await serve({ sessionFolder: folder });
    const { cookie, key } = await signIn(server);
    const [name] = await readdir(folder);
    expect(name).toBe(`${server.port}.sessions.json`);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const content = await readFile(join(folder, name), 'utf8');
    expect(content).not.toContain(cookie.split('=')[1]);
    expect(content).not.toContain(key);
    expect(JSON.parse(content).sessions).toMatchObject([
      { role: 'owner', keyHash: createHash('sha256').update(Buffer.from(key, 'base64url')).digest('base64url') },
    ]);
  });

  it.skipIf(process.platform === 'win32')('does not continue where others could have written the file', async () => {
    const first = await serve({ sessionFolder: folder });
    const { cookie } = await signIn(first.server);
    await first.server.close();
    await chmod(folder, 0o770);
    const { server } = await serve({ port: first.server.port, sessionFolder: folder });
    expect((await request(server, '/', { cookie })).status).toBe(401);
  });

  it('ends after 30 days', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { server } = await serve({ sessionFolder: folder });
    const { cookie } = await signIn(server);
    vi.setSystemTime(Date.now() + 30 * 24 * 3600 * 1000);
    expect((await request(server, '/', { cookie })).status).toBe(200);
    vi.setSystemTime(Date.now() + 1);
    expect((await request(server, '/', { cookie })).status).toBe(401);
  });

  it('is forgotten with a notice where the file is damaged', async () => {
    const first = await serve({ sessionFolder: folder });
    await signIn(first.server);
    await first.server.close();
    await writeFile(join(folder, `${first.server.port}.sessions.json`), '{"sessions": [{"role": "owner"}]}');
    const { notices } = await serve({ sessionFolder: folder });
    expect(notices[0]).toContain(`${first.server.port}.sessions.json`);
  });
});

it("a watcher's session ends with the server", async () => {
  const first = await serve({ sessionFolder: folder });
  await signIn(first.server);
  const { cookie } = await signIn(first.server, first.server.newWatchLink());
  await first.server.close();
  const { server } = await serve({ sessionFolder: folder });
  expect(server.port).toBe(first.server.port);
  expect((await request(server, '/', { cookie })).status).toBe(401);
});

describe('a browser without a session', () => {
  it('gets a page with a button, whose scripts and styles need no session', async () => {
    const { server } = await serve();
    const { status, body, headers } = await request(server, '/', { accept: 'text/html,*/*' });
    expect([status, headers['content-type']]).toEqual([401, 'text/html; charset=utf-8']);
    expect(body).toContain('Show a new link in the terminal');
    for (const path of ['/ask.js', '/door.css']) expect((await request(server, path)).status).toBe(200);
  });

  it('has a link shown in the terminal, and learns nothing of it', async () => {
    const { server, notices } = await serve();
    const asked = await request(server, '/ask-link', { 'sec-fetch-site': 'same-origin' });
    expect([asked.status, asked.body]).toEqual([204, '']);
    expect(notices).toHaveLength(1);
    const [link] = /http:\S+/.exec(notices[0]) ?? [];
    await signIn(server, link);
  });

  it('cannot flood the terminal, and other sites cannot ask at all', async () => {
    const { server, notices } = await serve();
    for (const site of ['cross-site', 'same-site', 'none']) {
      expect((await request(server, '/ask-link', { 'sec-fetch-site': site })).status).toBe(403);
    }
    expect((await request(server, '/ask-link')).status).toBe(403);
    expect(notices).toEqual([]);
    for (let turn = 0; turn < 10; turn += 1) await request(server, '/ask-link', { 'sec-fetch-site': 'same-origin' });
    expect(notices).toHaveLength(1);
  });
});

describe('tutti dashboard --link', () => {
  it('gets a link from the server that started last, or from the one of a port', async () => {
    const links = [await serveLinks(folder, 4001, () => 'first'), await serveLinks(folder, 4002, () => 'second')];
    onTestFinished(async () => void (await Promise.all(links.map((end) => end()))));
    expect(await askForLink(folder, 4001)).toBe('first');
    expect(await askForLink(folder, 4002)).toBe('second');
    expect(['first', 'second']).toContain(await askForLink(folder, 0));
  });

  it('says that none runs, also beside the file of one that was killed', async () => {
    await expect(askForLink(folder, 0)).rejects.toThrow('No dashboard runs for this home');
    const end = await serveLinks(folder, 4001, () => 'a link');
    const file = join(folder, '4001.link.json');
    const left = await readFile(file, 'utf8');
    await end();
    await expect(stat(file)).rejects.toThrow('ENOENT');
    await writeFile(file, left);
    await expect(askForLink(folder, 4001)).rejects.toThrow('No dashboard runs on port 4001 for this home');
  });

  it('needs the token of the file', async () => {
    onTestFinished(await serveLinks(folder, 4001, () => 'a link'));
    const file = join(folder, '4001.link.json');
    await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), token: 'a guess' }));
    await expect(askForLink(folder, 4001)).rejects.toThrow('No dashboard runs');
  });
});
