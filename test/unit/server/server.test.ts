import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ExportLinks } from '../../../src-main/server/export-links.ts';
import { WrongAttempts } from '../../../src-main/server/wrong-attempts.ts';
import { startServer } from '../../../src-main/server.ts';
import { openSocket, proofFor, request, serve, signIn, socketHeaders, upgradeStatus } from './served.ts';

describe('pages and files', () => {
  it('require a session, even for the page', async () => {
    const { server, exportLinks } = await serve();
    for (const path of ['/', '/main.js', exportLinks.link('run-1.zip'), '/rpc', '/?token=wrong']) {
      const answer = await request(server, path);
      expect([path, answer.status]).toEqual([path, 401]);
      expect(answer.body).toContain('`npx tutti dashboard --link` prints a new one');
    }
    expect((await request(server, '/', { cookie: `tutti-${server.port}=guess` })).status).toBe(401);
  });

  it('need a cookie that scripts cannot read, for which the token is exchanged once', async () => {
    const { server } = await serve();
    const path = `/${new URL(server.link).search}`;
    const first = await request(server, path);
    expect(String(first.headers['set-cookie'])).toMatch(/; HttpOnly; SameSite=Strict; Path=\/$/);
    const second = await request(server, path);
    expect(second.status).toBe(401);
    expect(second.headers['set-cookie']).toBeUndefined();
  });

  it('are served under a strict security policy, which lets the page open its own socket', async () => {
    const { server } = await serve();
    const { cookie } = await signIn(server);
    const session = { cookie };
    const page = await request(server, '/', session);
    expect([page.status, page.body]).toEqual([200, '<h1>Runs</h1>']);
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain(`connect-src 'self' ws://127.0.0.1:${server.port};`);
    expect(policy).not.toContain('unsafe');
    expect(page.headers['x-content-type-options']).toBe('nosniff');
    const script = await request(server, '/main.js', session);
    expect([script.status, script.headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8']);
  });

  it('include an export as a download', async () => {
    const { server, exportLinks } = await serve();
    const { cookie } = await signIn(server);
    const answer = await request(server, exportLinks.link('run-1.zip'), { cookie });
    expect([answer.status, answer.body]).toEqual([200, 'zipped']);
    expect(answer.headers['content-disposition']).toBe('attachment; filename="run-1.zip"');
    // A report that a browser showed here would run its script beside the dashboard's.
    const report = await request(server, exportLinks.link('run-1.html'), { cookie });
    expect([report.status, report.body]).toEqual([200, 'a report']);
    expect(report.headers['content-type']).toBe('application/octet-stream');
    expect(report.headers['content-disposition']).toBe('attachment; filename="run-1.html"');
    const [, ticket] = exportLinks.link('run-2.zip').split('?');
    for (const query of ['', '?ticket=', `?${ticket}`]) {
      expect((await request(server, `/exports/run-1.zip${query}`, { cookie })).status).toBe(404);
    }
  });

  it.each([
    '/../secret.html',
    '/..%2fsecret.html',
    '//../secret.html',
    '/absent.js',
    '/main',
    '/%00.js',
    '/exports/../../secret.zip',
    '/exports/..%2fsecret.zip',
    '/exports/absent.zip',
    '/index.html/main.js',
    `/${'long'.repeat(100)}.js`,
    '//',
    '/exports/',
  ])('do not reach out of their folders: %s', async (path) => {
    const { server, errors } = await serve();
    const { cookie } = await signIn(server);
    const answer = await request(server, path, { cookie });
    expect(answer.status).toBe(404);
    expect(answer.body).not.toContain('not for the page');
    expect(errors).toEqual([]);
  });

  it('refuse foreign hosts and origins, even with the session', async () => {
    const { server } = await serve();
    const { cookie } = await signIn(server);
    const session = { cookie };
    const statusWith = async (headers: Record<string, string>) =>
      (await request(server, '/', { ...session, ...headers })).status;
    expect(await statusWith({ origin: `http://127.0.0.1:${server.port}` })).toBe(200);
    expect(await statusWith({ host: `localhost:${server.port}` })).toBe(200);
    expect(await statusWith({ host: `evil.example:${server.port}` })).toBe(403);
    expect(await statusWith({ host: '127.0.0.1' })).toBe(403);
    expect(await statusWith({ origin: 'http://evil.example' })).toBe(403);
    expect(await statusWith({ origin: `http://127.0.0.1:${server.port + 1}` })).toBe(403);
    expect(await statusWith({ origin: 'null' })).toBe(403);
  });

  it('allow only GET', async () => {
    const { server } = await serve();
    const { cookie } = await signIn(server);
    const answer = await fetch(`http://127.0.0.1:${server.port}/`, { method: 'POST', headers: { cookie } });
    expect(answer.status).toBe(405);
  });
});

describe('a cookie', () => {
  it('alone reaches neither the hub nor an export: browsers send it to every port of the host', async () => {
    const { server, connected } = await serve();
    const { cookie, key } = await signIn(server);
    expect(await upgradeStatus(server, { cookie })).toBe(401);
    expect(await upgradeStatus(server, { cookie, 'sec-websocket-protocol': 'tutti' })).toBe(401);
    expect(await upgradeStatus(server, { cookie, 'sec-websocket-protocol': `tutti, ${'A'.repeat(43)}` })).toBe(401);
    expect(await upgradeStatus(server, { cookie, 'sec-websocket-protocol': `other, ${key}` })).toBe(401);
    expect((await request(server, '/exports/run-1.zip', { cookie })).status).toBe(404);
    expect(connected()).toBe(0);
  });

  it('of one server means nothing to another, whatever its name', async () => {
    const [one, other] = [await serve(), await serve()];
    const { cookie, key } = await signIn(one.server);
    const renamed = cookie.replace(String(one.server.port), String(other.server.port));
    for (const stolen of [cookie, renamed]) {
      expect((await request(other.server, '/', { cookie: stolen })).status).toBe(401);
      expect(await upgradeStatus(other.server, await socketHeaders(other.server, { cookie: stolen, key }))).toBe(401);
      const proof = await proofFor(one.server, { cookie, key });
      expect(await upgradeStatus(other.server, { cookie: stolen, 'sec-websocket-protocol': `tutti, ${proof}` })).toBe(
        401,
      );
    }
  });

  it('and its key tell a page whether it is still accepted', async () => {
    const { server } = await serve();
    const { cookie, key } = await signIn(server);
    const ask = async (proof: string) => (await request(server, '/rpc', { cookie, 'tutti-proof': proof })).status;
    expect(await ask(await proofFor(server, { cookie, key }))).toBe(204);
    expect(await ask(`${(await request(server, '/challenge', { cookie })).body}.none`)).toBe(401);
    expect(await ask(key)).toBe(401);
    expect((await request(server, '/rpc', { cookie })).status).toBe(401);
  });
});

describe('wrong tokens, cookies and keys', () => {
  it('are limited and noticed once; right ones are accepted all the same', async () => {
    const { server, notices } = await serve();
    const { cookie, key } = await signIn(server);
    const wrong = [
      () => request(server, '/?token=wrong'),
      () => request(server, '/', { cookie: `tutti-${server.port}=guess` }),
      () => request(server, '/rpc', { cookie, 'tutti-proof': 'guess' }),
    ];
    const statuses: (number | undefined)[] = [];
    for (let turn = 0; turn < 20; turn += 1) {
      for (const attempt of wrong) statuses.push((await attempt()).status);
    }
    expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 401));
    expect(statuses.slice(-20)).toEqual(Array.from({ length: 20 }, () => 429));
    expect(notices).toHaveLength(1);
    expect(notices[0]).toContain('127.0.0.1');
    expect((await request(server, '/', { cookie })).status).toBe(200);
    expect(await upgradeStatus(server, await socketHeaders(server, { cookie, key }))).toBe(101);
    // Who presents nothing guesses nothing.
    expect((await request(server, '/')).status).toBe(401);
  });

  it('get new attempts with time, by address', () => {
    const notices: string[] = [];
    const attempts = new WrongAttempts((text) => notices.push(text));
    const beyond = (address: string, nowMs: number) => attempts.count(address, nowMs);
    for (let count = 0; count < 20; count += 1) expect(beyond('a', 0)).toBe(false);
    expect(beyond('a', 0)).toBe(true);
    expect(beyond('b', 0)).toBe(false);
    // One attempt in 3 s.
    expect(beyond('a', 3_000)).toBe(false);
    expect(beyond('a', 3_000)).toBe(true);
    expect(notices).toHaveLength(1);
    for (let count = 0; count < 20; count += 1) expect(beyond('a', 66_000)).toBe(false);
    expect(beyond('a', 66_000)).toBe(true);
    expect(notices).toHaveLength(2);
  });
});

describe('links for watchers', () => {
  it('begin sessions whose pages are watchers, and end when the owner ends them', async () => {
    const { server, roles } = await serve();
    const owner = await openSocket(server);
    const [opened, unopened] = [server.newWatchLink(), server.newWatchLink()];
    const credentials = await signIn(server, opened);
    const watcher = await openSocket(server, credentials);
    expect(roles).toEqual(['owner', 'watcher']);
    const closed = once(watcher, 'close');
    server.endWatchers();
    expect((await closed)[0]).toBe(1008);
    expect(await upgradeStatus(server, await socketHeaders(server, credentials))).toBe(401);
    expect((await request(server, '/', { cookie: credentials.cookie })).status).toBe(401);
    expect((await request(server, `/${new URL(unopened).search}`)).status).toBe(401);
    expect(owner.readyState).toBe(WebSocket.OPEN);
  });

  it('download no export, and do not turn the owner into a watcher', async () => {
    const { server, exportLinks } = await serve();
    const owner = await signIn(server);
    const link = server.newWatchLink();
    const again = await request(server, `/${new URL(link).search}`, { cookie: owner.cookie });
    expect([again.status, again.headers['set-cookie']]).toEqual([200, undefined]);
    const { cookie } = await signIn(server, link);
    expect((await request(server, exportLinks.link('run-1.zip'), { cookie })).status).toBe(404);
    expect((await request(server, exportLinks.link('run-1.zip'), { cookie: owner.cookie })).status).toBe(200);
  });

  it('end with the oldest if there are too many', async () => {
    const { server } = await serve();
    const links = Array.from({ length: 101 }, () => server.newWatchLink());
    expect((await request(server, `/${new URL(links[0]).search}`)).status).toBe(401);
    await signIn(server, links[1]);
    await signIn(server);
  });
});

it('reports that its port is taken', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(() => void taken.close());
  const address = taken.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const options = {
    port,
    pageFolder: '/',
    exportFolder: '/',
    exportLinks: new ExportLinks(),
    connect: () => () => undefined,
    onError: () => undefined,
    onNotice: () => undefined,
  };
  await expect(startServer(options)).rejects.toThrow(`Tutti cannot listen on port ${port} of 127.0.0.1`);
});
