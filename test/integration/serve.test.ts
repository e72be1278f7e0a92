import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import type { Preprocessing } from '../../core/preprocessing/schema.ts';
import { exportRun } from '../../src-main/export/export-run.ts';
import type { RequestCounts } from '../../src-main/serving/batcher.ts';
import { openEnsemble, tf } from '../../workers/index.ts';
import { startBackend } from '../../workers/backends/backend.ts';
import { notLinux, notRun } from '../environment/reasons.ts';
import { runWithModels } from '../unit/inference/run-with-models.ts';
import { temporaryFolder } from '../unit/store/fixtures.ts';

const tutti = fileURLToPath(new URL('../../src-main/tutti.mjs', import.meta.url));

const preprocessing: Preprocessing = {
  format: 1,
  steps: [
    {
      kind: 'table',
      columns: [
        {
          name: 'size',
          type: 'number',
          impute: { value: 5, indicator: false },
          mean: 1,
          std: 2,
          smallest: -50,
          largest: 50,
        },
        { name: 'town', type: 'category', impute: null, categories: ['Bern', 'Chur'] },
      ],
    },
  ],
};

function classifier(seed: number) {
  const layer = (units: number, more: object) =>
    tf.layers.dense({ units, kernelInitializer: tf.initializers.glorotNormal({ seed }), ...more });
  return tf.sequential({ layers: [layer(8, { inputShape: [3], activation: 'tanh' }), layer(4, {})] });
}

/** `tutti serve` with a token, once it is ready. */
async function serve(folder: string, ...args: string[]) {
  const env = { ...process.env, TUTTI_HOME: join(await temporaryFolder(), 'home') };
  const command = [tutti, 'serve', folder, '--json', '--token', 'secret', ...args];
  const server = spawn(process.execPath, command, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void server.kill('SIGKILL'));
  const ended = once(server, 'exit');
  const stopping = once(createInterface(server.stderr), 'line');
  const early = ended.then(([code]) => Promise.reject(new Error(`tutti serve ended with exit code ${code}.`)));
  const [line] = await Promise.race([once(createInterface(server.stdout), 'line'), early]);
  early.catch(() => undefined);
  const { url } = JSON.parse(line as string) as { url: string };
  const headers = { authorization: 'Bearer secret' };
  const ask = (path: string, body?: string) =>
    fetch(new URL(path, `${url}/`), { headers, ...(body !== undefined && { method: 'POST', body }) });
  return { server, ended, stopping, url, ask };
}

interface Output {
  name: string;
  shape: number[];
  data: number[];
}

/** A request that the server has accepted, and that lacks its body. @returns sends it and reads the answer */
async function beginRequest(url: string): Promise<(body: string) => Promise<Output[]>> {
  const begun = request(url, { method: 'POST', headers: { authorization: 'Bearer secret', expect: '100-continue' } });
  begun.flushHeaders();
  await once(begun, 'continue');
  return async (body) => {
    begun.end(body);
    const [response] = (await once(begun, 'response')) as [IncomingMessage];
    return ((await json(response)) as { outputs: Output[] }).outputs;
  };
}

/** The process of the models that a server started, which the kernel lists among its descendants. */
async function modelProcess(pid: number): Promise<number | null> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').filter(Boolean);
  for (const child of children.map(Number)) {
    if ((await readFile(`/proc/${child}/cmdline`, 'utf8')).includes('entries/serve')) return child;
    const found = await modelProcess(child);
    if (found !== null) return found;
  }
  return null;
}

/** Clients that ask for predictions one after the other, until they are stopped. */
function load(clients: number, ask: () => Promise<Response>) {
  const [answers, failures]: [{ status: number; text: string }[], unknown[]] = [[], []];
  let isStopped = false;
  let told: (() => void) | null = null;
  const client = async (): Promise<void> => {
    while (!isStopped) {
      try {
        const response = await ask();
        answers.push({ status: response.status, text: await response.text() });
      } catch (error) {
        failures.push(error);
        isStopped = true;
      }
      told?.();
    }
  };
  const ended = Promise.all(Array.from({ length: clients }, client));
  return {
    answers,
    failures,
    /** Resolves once so many of the answers after the first `from` have this status. */
    until: (status: number, count: number, from = 0) =>
      new Promise<void>((reached) => {
        told = () => {
          if (answers.slice(from).filter((answer) => answer.status === status).length >= count) reached();
        };
      }),
    ended,
  };
}

it.skipIf(notLinux !== null)(
  `under load, the death of the models' process fails what it predicted, and SIGTERM ends the server with its answers${notRun(notLinux)}`,
  async () => {
    await startBackend('cpu');
    const run = await runWithModels([classifier(1)], { task: 'classification' });
    const { server, ended, ask } = await serve(run, '--max-batch', '4');
    const body = JSON.stringify({ inputs: [{ name: 'features', datatype: 'FP32', shape: [1, 3], data: [1, 2, 3] }] });
    const { answers, failures, until, ended: clientsEnded } = load(8, () => ask('infer', body));
    await until(200, 50);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const before = answers.length;
    process.kill((await modelProcess(server.pid!))!, 'SIGKILL');
    await until(200, 50, before + 8);
    const failed = answers.filter(({ status }) => status !== 200);
    expect(failed.length).toBeLessThanOrEqual(4);
    for (const { status, text } of failed) {
      expect([status, text]).toEqual([503, expect.stringContaining('ended while it predicted')]);
    }
    const counts = (await (await ask('stats')).json()) as RequestCounts;
    expect([counts.failed, counts.refused]).toEqual([failed.length, 0]);
    expect(counts.answered).toBeGreaterThanOrEqual(100);

    const answered = answers.length;
    server.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    await clientsEnded;
    // A client sees its answer, a refusal, or no server any more.
    for (const { status } of answers.slice(answered)) expect([200, 503]).toContain(status);
    for (const failure of failures) expect(String(failure)).toContain('fetch failed');
  },
);

it('a served ensemble answers like the opened one, refuses what it must, and answers what it accepted when it stops', async () => {
  await startBackend('cpu');
  const run = await runWithModels([classifier(1), classifier(2)], { task: 'classification', preprocessing });
  const folder = join(await temporaryFolder(), 'exported');
  await exportRun(run, { to: folder, zip: false, formats: ['ensemble'] });
  const { server, ended, stopping, url, ask } = await serve(
    folder,
    '--max-body-mib',
    '1',
    '--max-delay-ms',
    '60000',
    '--max-batch',
    '3',
  );

  expect((await fetch(new URL('/v2/health/ready', url))).status).toBe(200);
  expect((await fetch(url)).status).toBe(401);
  const metadata = (await (await ask(url)).json()) as { inputs: { name: string }[]; outputs: { name: string }[] };
  expect(metadata.inputs.map(({ name }) => name)).toEqual(['size', 'town']);
  expect(metadata.outputs.map(({ name }) => name)).toEqual([
    'mean',
    'label',
    'entropy',
    'mutual_information',
    'members',
  ]);
  expect((await ask('infer', ' '.repeat(2 ** 20 + 1))).status).toBe(413);

  const rows = [
    { size: 3, town: 'Bern' },
    { size: null, town: 'Chur' },
    { size: -2.5, town: 'Rome' },
  ];
  const body = (own: typeof rows) =>
    JSON.stringify({
      inputs: [
        { name: 'size', datatype: 'FP64', shape: [own.length, 1], data: own.map(({ size }) => size) },
        { name: 'town', datatype: 'BYTES', shape: [own.length, 1], data: own.map(({ town }) => town) },
      ],
      outputs: ['mean', 'entropy', 'members'].map((name) => ({ name })),
    });
  const outputs = async (answer: Promise<Response>) => ((await (await answer).json()) as { outputs: Output[] }).outputs;
  const opened = await openEnsemble(folder);
  const found = await opened.predict({ rows });
  const entropies = found.kind === 'classes' ? [...found.entropy] : [];
  const close = (given: number[], expected: readonly number[] | Float32Array | Float64Array) => {
    expect(given).toHaveLength(expected.length);
    given.forEach((value, i) => expect(Math.abs(value - expected[i])).toBeLessThan(1e-5));
  };
  // Three samples fill a batch, so they wait for no others.
  const [mean, entropy, members] = await outputs(ask('infer', body(rows)));
  expect([mean.shape, entropy.shape, members.shape]).toEqual([[3, 4], [3], [3, 2, 4]]);
  close(mean.data, found.mean);
  close(entropy.data, entropies);
  for (let n = 0; n < 3; n++) {
    for (let m = 0; m < 2; m++) {
      const own = members.data.slice((n * 2 + m) * 4, (n * 2 + m + 1) * 4);
      close(own, found.members.slice((m * 3 + n) * 4, (m * 3 + n + 1) * 4));
    }
  }
  // So do two requests together, each of which gets the warnings of its own rows.
  const both = await Promise.all([rows.slice(0, 1), rows.slice(1)].map((own) => ask('infer', body(own))));
  expect(both.map(({ headers }) => headers.get('tutti-warnings'))).toEqual([
    null,
    'missing=1, mistyped=0, unseen=1, outside=0',
  ]);
  const [clean, lossy] = (await Promise.all(both.map((answer) => answer.json()))) as { warnings?: object[] }[];
  expect(clean).not.toHaveProperty('warnings');
  const none = { mistyped: 0, mistyped_values: [], unseen: 0, unseen_values: [], outside: 0, outside_values: [] };
  expect(lossy.warnings).toEqual([
    { column: 'size', rows: 2, missing: 1, ...none },
    { column: 'town', rows: 2, missing: 0, ...none, unseen: 1, unseen_values: [{ value: 'Rome', count: 1 }] },
  ]);
  expect(found.warnings.map(({ column, rows: all, missing, unseen }) => [column, all, missing, unseen])).toEqual([
    ['size', 3, 1, 0],
    ['town', 3, 0, 1],
  ]);
  opened.dispose();
  const late = await beginRequest(`${url}/infer`);
  server.kill('SIGTERM');
  await stopping;
  const [{ data }] = await late(body(rows.slice(0, 1)));
  close(data, found.mean.slice(0, 4));
  expect(await ended).toEqual([0, null]);
  await expect(ask(url)).rejects.toThrow('fetch failed');
});
