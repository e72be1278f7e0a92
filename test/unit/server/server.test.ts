import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type ListedRun, runListSchema } from '../../../protocol/run-list.ts';
import { type RunningServer, startServer } from '../../../src-main/server.ts';

const run: ListedRun = {
  folder: '/runs/run-1',
  id: 'run-1',
  name: 'first',
  project: 'wine',
  status: 'running',
  members: 4,
  best: { metric: 'val/ens_nll', value: Number.NaN, epoch: 2 },
  startedAt: '2026-01-02T03:04:05.000Z',
  error: null,
};

/** A server over a page of two files, whose run list the test changes. */
async function serve() {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-server-'));
  const pageFolder = join(folder, 'page');
  await mkdir(pageFolder);
  await writeFile(join(folder, 'secret.html'), 'not for the page');
  await writeFile(join(pageFolder, 'index.html'), '<h1>Runs</h1>');
  await writeFile(join(pageFolder, 'main.js'), 'go();');
  const listeners = new Set<(runs: ListedRun[]) => void>();
  const runs = {
    current: [run],
    list: async () => runs.current,
    subscribe(listener: (runs: ListedRun[]) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const errors: unknown[] = [];
  const server = await startServer({ pageFolder, runs, onError: (error) => errors.push(error) });
  onTestFinished(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });
  return { server, runs, listeners, errors };
}

interface Answer {
  status: number | undefined;
  headers: NodeJS.Dict<string | string[]>;
  body: string;
}

/** Unlike `fetch`, sends any Host and Origin, and paths as they are. */
function request(server: RunningServer, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: server.port, path, headers };
    get(options, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (body += chunk));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }));
    }).on('error', reject);
  });
}

/** Uses the link up. @returns the headers of a page that has its session */
async function signIn(server: RunningServer): Promise<{ cookie: string }> {
  const answer = await request(server, `/${new URL(server.link).search}`);
  expect(answer.status).toBe(303);
  expect(answer.headers.location).toBe('/');
  const [cookie] = String(answer.headers['set-cookie']).split(';');
  return { cookie };
}

it('gives nothing to who has no session, not even the page', async () => {
  const { server } = await serve();
  for (const path of ['/', '/main.js', '/api/runs', '/api/runs/events', '/?token=wrong']) {
    const answer = await request(server, path);
    expect([path, answer.status]).toEqual([path, 401]);
    expect(answer.body).toContain('start Tutti again for a new one');
  }
  expect((await request(server, '/', { cookie: `tutti-${server.port}=guess` })).status).toBe(401);
});

it('exchanges the token for a cookie that scripts cannot read, once', async () => {
  const { server } = await serve();
  const path = `/${new URL(server.link).search}`;
  const first = await request(server, path);
  expect(String(first.headers['set-cookie'])).toMatch(/; HttpOnly; SameSite=Strict; Path=\/$/);
  const second = await request(server, path);
  expect(second.status).toBe(401);
  expect(second.headers['set-cookie']).toBeUndefined();
});

it('serves the page under a strict security policy', async () => {
  const { server } = await serve();
  const session = await signIn(server);
  const page = await request(server, '/', session);
  expect([page.status, page.body]).toEqual([200, '<h1>Runs</h1>']);
  expect(page.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
  expect(page.headers['x-content-type-options']).toBe('nosniff');
  const script = await request(server, '/main.js', session);
  expect([script.status, script.headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8']);
});

it.each(['/../secret.html', '/..%2fsecret.html', '//../secret.html', '/absent.js', '/main', '/%00.js'])(
  'has no file outside of the page: %s',
  async (path) => {
    const { server, errors } = await serve();
    const answer = await request(server, path, await signIn(server));
    expect(answer.status).toBe(404);
    expect(answer.body).not.toContain('not for the page');
    expect(errors).toEqual([]);
  },
);

it('turns away foreign hosts and origins, with the session too', async () => {
  const { server } = await serve();
  const session = await signIn(server);
  const own = `http://127.0.0.1:${server.port}`;
  const statusWith = async (headers: Record<string, string>) =>
    (await request(server, '/api/runs', { ...session, ...headers })).status;
  expect(await statusWith({ origin: own })).toBe(200);
  expect(await statusWith({ host: `localhost:${server.port}` })).toBe(200);
  expect(await statusWith({ host: `evil.example:${server.port}` })).toBe(403);
  expect(await statusWith({ host: '127.0.0.1' })).toBe(403);
  expect(await statusWith({ origin: 'http://evil.example' })).toBe(403);
  expect(await statusWith({ origin: `http://127.0.0.1:${server.port + 1}` })).toBe(403);
  expect(await statusWith({ origin: 'null' })).toBe(403);
});

it('answers only GET', async () => {
  const { server } = await serve();
  const { cookie } = await signIn(server);
  const answer = await fetch(`http://127.0.0.1:${server.port}/api/runs`, { method: 'POST', headers: { cookie } });
  expect(answer.status).toBe(405);
});

it('lists the runs as JSON in which NaN survives', async () => {
  const { server } = await serve();
  const answer = await request(server, '/api/runs', await signIn(server));
  expect(answer.body).toContain('"value":"NaN"');
  expect(runListSchema.parse(JSON.parse(answer.body))).toEqual([run]);
});

it('streams the list at once, then each change, until the page has gone', async () => {
  const { server, listeners } = await serve();
  const { cookie } = await signIn(server);
  const gone = new AbortController();
  const response = await fetch(`http://127.0.0.1:${server.port}/api/runs/events`, {
    headers: { cookie },
    signal: gone.signal,
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const statuses: string[] = [];
  let text = '';
  await expect(async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      const events = text.split('\n\n').slice(0, -1);
      const lists = events.filter((event) => event.startsWith('data: ')).map((event) => event.slice('data: '.length));
      statuses.splice(0, Infinity, ...lists.map((list) => runListSchema.parse(JSON.parse(list))[0].status));
      if (statuses.length === 1) for (const tell of listeners) tell([{ ...run, status: 'finished' }]);
      if (statuses.length === 2) gone.abort();
    }
  }).rejects.toThrow(/abort/i);
  expect(statuses).toEqual(['running', 'finished']);
  await expect.poll(() => listeners.size).toBe(0);
});

it('answers 500 and tells its own terminal when the list cannot be had', async () => {
  const { server, runs, errors } = await serve();
  const failure = new Error('disk gone');
  runs.list = async () => {
    throw failure;
  };
  const answer = await request(server, '/api/runs', await signIn(server));
  expect(answer.status).toBe(500);
  expect(answer.body).not.toContain('disk gone');
  expect(errors).toEqual([failure]);
});
