import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { peersFolder, type Peer } from '../compute/steppers.ts';
import { type NetworkName, networks } from './write-ensemble.ts';

/** A server under test, and the request for the prediction of one sample. */
export interface Server {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
  stop(): Promise<void>;
}

const tutti = join(import.meta.dirname, '..', '..', 'src-main', 'tutti.mjs');

/** `tutti serve`, as a user starts it. @param isBinary whether the tensors are binary, else JSON */
export async function startTutti(folder: string, network: NetworkName, isBinary: boolean): Promise<Server> {
  const child = start(process.execPath, [tutti, 'serve', folder, '--json']);
  const { url } = z.object({ url: z.string() }).parse(JSON.parse(await firstLine(child)));
  const request = isBinary
    ? binaryRequest(network)
    : { headers: {}, body: Buffer.from(JSON.stringify(inputs(network))) };
  return { url: `${url}/infer`, ...request, stop: () => stop(child) };
}

/** The same networks in PyTorch, behind FastAPI and uvicorn. */
export async function startPeer({ python }: Peer, network: NetworkName): Promise<Server> {
  const child = start(python, [join(peersFolder, 'serve.py'), network]);
  const url = `http://127.0.0.1:${await firstLine(child)}/predict`;
  const body = Buffer.from(JSON.stringify({ data: [Array.from(sampleOf(network))] }));
  return { url, headers: { 'content-type': 'application/json' }, body, stop: () => stop(child) };
}

/** A sample with four digits for each value, as a client might send it. */
function sampleOf(network: NetworkName): number[] {
  const size = networks[network].shape.reduce((product, own) => product * own, 1);
  return Array.from({ length: size }, (_, i) => Math.round(Math.sin(i) * 1e4) / 1e4);
}

const outputs = ['mean', 'entropy'];

function inputs(network: NetworkName): object {
  const shape = [1, ...networks[network].shape];
  const features = { name: 'features', datatype: 'FP32', shape, data: sampleOf(network) };
  return { inputs: [features], outputs: outputs.map((name) => ({ name })) };
}

function binaryRequest(network: NetworkName): Pick<Server, 'headers' | 'body'> {
  const bytes = Buffer.from(Float32Array.from(sampleOf(network)).buffer);
  const parameters = { binary_data_size: bytes.length };
  const features = { name: 'features', datatype: 'FP32', shape: [1, ...networks[network].shape], parameters };
  const named = outputs.map((name) => ({ name, parameters: { binary_data: true } }));
  const json = Buffer.from(JSON.stringify({ inputs: [features], outputs: named }));
  const headers = { 'inference-header-content-length': String(json.length) };
  return { headers, body: Buffer.concat([json, bytes]) };
}

function start(command: string, args: string[]): ChildProcess {
  const env = { ...process.env, OMP_NUM_THREADS: '1' };
  return spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('The server has no output to read.');
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`The server ended with code ${code}.`)));
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
  // It ends later, as it should.
  ended.catch(() => undefined);
  return String(line);
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
