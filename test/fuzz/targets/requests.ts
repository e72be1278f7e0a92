import { z } from 'zod';
import type { InputInfo } from '../../../core/ensemble/tensors.ts';
import type { Device } from '../../../core/protocol/machine/devices.ts';
import { describeOptions } from '../../../core/options/index.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import { noPermissions } from '../../../core/protocol/run/permissions.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { parseTrainArguments } from '../../../src-main/cli/arguments.ts';
import { findConflicts } from '../../../src-main/runs/configuration/combinations.ts';
import { checkChanges, checkConfig, resolveConfig } from '../../../src-main/runs/configuration/resolve-config.ts';
import { runFlagsOf } from '../../../src-main/runs/configuration/run-flags.ts';
import { splitBody } from '../../../src-main/serving/infer-body.ts';
import { readInferRequest } from '../../../src-main/serving/read-request.ts';
import { selectDevices } from '../../../src-main/devices/selection.ts';
import { excerptOf, projectPlace } from '../../../workers/project/explain-error.ts';
import { asScript } from '../../../workers/project/load-project.ts';
import { readGolden } from '../../golden/read-golden.ts';
import type { FuzzTarget } from '../engine/target.ts';
import { json, text } from './files.ts';

const hyperparameters = z.object({
  hiddenUnits: z.int().min(1).default(50).meta({ help: 'Units.' }),
  rate: z.number().positive().default(0.1).meta({ help: 'Rate.' }),
});
const project: ProjectDescription = {
  name: 'Blobs',
  description: '',
  task: 'classification',
  hasOwnLoss: false,
  hyperparameters: describeOptions(hyperparameters),
  permissions: noPermissions,
  defaults: { members: 2, optimizer: { kind: 'adam', learningRate: 0.01 } },
};
const flags = runFlagsOf(project);
const available = [0, 1, 2, 3].map((index): Device => ({
  id: `cpu:${index}`,
  kind: 'cpu',
  index,
  name: 'core',
  memoryTotalBytes: null,
  memoryUsedBytes: null,
  load: null,
  processCount: null,
}));

/** Checks a configuration in every way that a command or a page does. */
function checkAll(overrides: Record<string, unknown>): void {
  const { config } = checkConfig(project, [overrides]);
  if (config !== null) {
    findConflicts(config, [], project);
    checkChanges(config, overrides);
  }
  resolveConfig(project, [overrides]);
}

const trace: FuzzTarget = {
  name: 'trace',
  reads: "the stack of an error of a project's code, and the code of a module",
  seeds: async () => [
    text('/work/project.ts:5\n  a b\n    ^\n\nSyntaxError: Unexpected identifier'),
    text(`Error: x\n    at loss (file://${import.meta.filename}:7:9)\n    at node:internal/x:1:2`),
    text("import a, { b } from 'c';\nexport default { d: import.meta.url };\nexport { a, b };\nexport const e = 1;"),
  ],
  run(bytes) {
    const stack = bytes.toString();
    const place = projectPlace(stack, import.meta.dirname);
    if (place !== null) excerptOf(place, import.meta.dirname);
    const script = asScript(stack);
    if (script.split('\n').length !== stack.split('\n').length) throw new Error('A line was lost.');
  },
};

const commandLine: FuzzTarget = {
  name: 'command-line',
  reads: 'the arguments of `tutti train`, one per line of the input',
  seeds: async () => [
    text('--members\n4\n--optimizer.learning-rate\n0.02\n--set\nhyperparameters.hiddenUnits=7'),
    text('--strategy\njoint\n--set\noptimizer=sgd\n--devices\ncpu:0-3\n--name=x\n--out\n/tmp/y\n--json'),
    text('--hidden-units=3\n--deterministic\n--help'),
  ],
  run(bytes) {
    const { overrides } = parseTrainArguments(bytes.toString().split('\n'), flags);
    checkAll(overrides);
  },
};

const configuration: FuzzTarget = {
  name: 'configuration',
  reads: 'configurations (files, pages, projects)',
  seeds: async () => [
    json(runConfigSchema.parse({})),
    json({ members: 4, optimizer: { kind: 'sgd', momentum: 0.9 }, hyperparameters: { hiddenUnits: 3 } }),
    json({ strategy: { kind: 'hdet' }, devices: 'cpu:0,1', placement: 'waves', membersPerDevice: 2 }),
  ],
  run(bytes) {
    const parsed = z.record(z.string(), z.unknown()).safeParse(parseJson(bytes));
    if (parsed.success) checkAll(parsed.data);
  },
};

const selection: FuzzTarget = {
  name: 'device-selection',
  reads: 'the text that selects devices',
  seeds: async () => [text('cpu:0-3'), text('gpu:0,gpu:1'), text('4'), text('all'), text('cpu:0,2,5-7')],
  run: (bytes) => selectDevices(bytes.toString(), available, ['cpu']),
};

const columns: InputInfo[] = [
  { name: 'size', datatype: 'FP64', shape: [-1, 1], kind: 'column' },
  { name: 'sold', datatype: 'BOOL', shape: [-1, 1], kind: 'column' },
  { name: 'town', datatype: 'BYTES', shape: [-1, 1], kind: 'column' },
];
const features: InputInfo[] = [{ name: 'features', datatype: 'FP32', shape: [-1, 2], kind: 'values' }];
const images: InputInfo[] = [{ name: 'images', datatype: 'UINT8', shape: [-1, 2, -1], kind: 'values' }];

const inference: FuzzTarget = {
  name: 'inference-request',
  reads: 'requests for predictions, as `tutti serve` gets them',
  seeds: async () => [
    json({
      id: 'a',
      inputs: [
        { name: 'size', datatype: 'FP64', shape: [2, 1], data: [[1.5], [null]] },
        { name: 'sold', datatype: 'BOOL', shape: [2], data: [true, null] },
        { name: 'town', datatype: 'BYTES', shape: [2, 1], data: ['Bern', null] },
      ],
      outputs: [{ name: 'members' }],
    }),
    json({
      inputs: [
        {
          name: 'images',
          datatype: 'UINT8',
          shape: [1, 2, 2],
          data: [
            [
              [0, 1],
              [2, 255],
            ],
          ],
        },
      ],
    }),
  ],
  run(bytes) {
    const inputs = bytes.includes('images') ? images : columns;
    readInferRequest(parseJson(bytes), { inputs, takesColumns: bytes.length % 2 === 1 });
  },
};

const recordedSchema = z.object({
  requests: z.array(z.object({ body: z.string(), jsonBytes: z.number().nullable() })),
});

/** A request as it crosses: the text of the header, a line break, the body. */
const binaryInference: FuzzTarget = {
  name: 'binary-inference-request',
  reads: 'requests with binary tensors, as `tutti serve` gets them',
  seeds: async () =>
    recordedSchema
      .parse(readGolden('serving/requests.json'))
      .requests.map(({ body, jsonBytes }) => Buffer.concat([text(`${jsonBytes}\n`), Buffer.from(body, 'base64')])),
  run(bytes) {
    const end = bytes.indexOf('\n');
    const { json, binary } = splitBody(bytes.subarray(end + 1), bytes.toString('latin1', 0, Math.max(end, 0)));
    const isColumns = JSON.stringify(json).includes('size');
    readInferRequest(json, { inputs: isColumns ? columns : features, takesColumns: false }, binary);
  },
};

/** Null for what is no JSON: the readers of the file say so, and that is another target. */
function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return null;
  }
}

export const requestTargets = [commandLine, trace, configuration, selection, inference, binaryInference];
