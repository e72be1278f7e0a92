import { readBuildFile } from '../../../core/node/atomic-file.ts';
import { nativeBuildSchema } from '../../../core/protocol/machine/devices.ts';
import { readLog } from '../../../src-main/rpc/runs/logs.ts';
import { readIdentity } from '../../../src-main/server/certificate.ts';
import { readStaticFile } from '../../../src-main/server/files.ts';
import { parseStartOptions } from '../../../src-main/start/options.ts';
import { readPins } from '../../../workers/checkpoints/retention.ts';
import type { FuzzTarget } from '../engine/target.ts';
import { fileTarget, json, text } from './files.ts';

const startOptions: FuzzTarget = {
  name: 'start-options',
  reads: 'the arguments of `tutti dashboard`, one per line of the input',
  seeds: async () => [
    text('--browser\n--port\n8080\n--no-open'),
    text('--host\n0.0.0.0\n--tls-cert\na.pem\n--tls-key\nb.pem'),
    text('--desktop'),
  ],
  run(bytes) {
    try {
      parseStartOptions(bytes.toString().split('\n'));
    } catch (error) {
      // Its own errors are RangeErrors with a remedy.
      if (!(error instanceof RangeError) || !/--/.test(error.message)) throw error;
    }
  },
};

const pagePath: FuzzTarget = {
  name: 'page-path',
  reads: 'the path of a request for a file of the page',
  seeds: async () => [text('/'), text('/assets/index.js'), text('/../package.json'), text('/a/%2e%2e/b.png')],
  run: (bytes) => readStaticFile(import.meta.dirname, bytes.toString()),
};

const log = fileTarget({
  name: 'log',
  reads: "the log of a rank, as the run's page shows it",
  path: 'logs/rank-0.log',
  maximumBytes: 2 ** 18,
  seeds: async () => [
    text('2026-01-02T03:04:05.678Z started\nno time\n2026-01-02T03:04:06.678Z epoch 1\n'),
    text(`${'a'.repeat(70_000)}\n2026-01-02T03:04:06.678Z epoch 1\n`),
  ],
  read: (folder) => readLog(folder, 0, 3),
});

const pins = fileTarget({
  name: 'pins',
  reads: 'notes.json, where a rank looks for checkpoints that must stay',
  path: 'notes.json',
  seeds: async () => [json({ tags: [], pinnedCheckpoints: [{ rank: 0, name: 'final' }] }), json({})],
  read: (folder) => readPins(folder, 0),
});

const buildFile = fileTarget({
  name: 'build.json',
  reads: 'what `tutti setup` wrote beside a native backend',
  path: 'build.json',
  seeds: async () => [
    json({ tensorflow: '2.15.0', tfjsNode: '4.22.0', hasCuda: false, binding: 'a.node', libraryFolders: ['lib'] }),
    json({}),
  ],
  read: async (folder) => readBuildFile(folder, nativeBuildSchema, 'Set it up again.'),
});

const certificate = fileTarget({
  name: 'certificate',
  reads: 'the certificate and the key of `--tls-cert` and `--tls-key`, from one file',
  path: 'both.pem',
  seeds: async () => [
    text('-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'),
    text('-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8Q\n-----END PRIVATE KEY-----\n'),
  ],
  read: (_folder, file) => readIdentity({ certificate: file, key: file }),
});

export const entranceTargets = [startOptions, pagePath, log, pins, buildFile, certificate];
