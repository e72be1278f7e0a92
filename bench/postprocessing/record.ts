import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pooledValues } from '../../core/postprocessing/apply.ts';
import { fitClassCalibration, fitSigmaScales } from '../../core/postprocessing/calibration/fit-calibration.ts';
import { fitPostprocessing } from '../../core/postprocessing/fit.ts';
import type { HeldOut } from '../../core/postprocessing/held-out.ts';
import { measureDetection, measurePostprocessing } from '../../core/postprocessing/measure.ts';
import { distanceScoreNames } from '../../core/postprocessing/outside/distances.ts';
import { type PostprocessingRequest, usualRequest } from '../../core/postprocessing/request.ts';
import type { Calibration } from '../../core/postprocessing/schema.ts';
import { runRecordSchema } from '../../core/protocol/run/record.ts';
import { type Dataset, gatherBatch } from '../../workers/data/dataset.ts';
import { predictFeatures, preparedInputs, withFeatures } from '../../workers/inference/features.ts';
import { openEnsemble } from '../../workers/inference/open-ensemble.ts';
import { heldOutSamples, usedRows } from '../../workers/postprocessing/held-out-samples.ts';
import { distancesTo, fitReferences, trainingPart } from '../../workers/postprocessing/training-distances.ts';
import { loadProject, loadProjectData, parseHyperparameters } from '../../workers/project/load-project.ts';

/**
 * Predicts the validation, test and other samples of a run of `bench/projects/known-classes` or `bench/projects/wine`
 * with all members, measures its postprocessing, and writes predictions, features and figures to a folder, from which
 * `bench/peers/postprocessing.py` computes the same figures with TorchUncertainty, MAPIE and scikit-learn:
 *
 *     node bench/postprocessing/record.ts <run folder> <folder>
 */
const [run, into] = process.argv.slice(2).map((path) => resolve(path));
const { config, project: trained } = runRecordSchema.parse(JSON.parse(await readFile(join(run, 'run.json'), 'utf8')));
const project = await loadProject(trained.folder);
const dataFolders = { lookup: process.env.TUTTI_DATA ?? null, cache: join(into, 'data') };
const data = await loadProjectData(project, parseHyperparameters(project, config.hyperparameters), {
  config,
  dataFolders,
});
const ensemble = await openEnsemble(run);
const { models } = ensemble;
const { task } = project;
const train = trainingPart(data.train, config.seed);
// oxlint-disable-next-line typescript/require-await -- models of a run are read one after the other
const eachModel = async function* () {
  yield* models;
};
const references = await fitReferences(distanceScoreNames, train, eachModel, task);

/** Writes the inputs and each member's features. */
async function writeViews(dataset: Dataset, name: string): Promise<void> {
  const inputs = await preparedInputs(models[0], dataset);
  await writeFile(join(into, `${name}-inputs.f32`), inputs.values);
  for (const [member, model] of models.entries()) {
    const { values } = await predictFeatures(withFeatures(model), dataset);
    await writeFile(join(into, `${name}-features-${member}.f32`), values);
  }
}

async function predict(dataset: Dataset | undefined, name: string): Promise<HeldOut> {
  if (dataset === undefined) throw new Error(`The project has no ${name} split.`);
  const rows = Int32Array.from({ length: dataset.length }, (_, row) => row);
  const { features } = gatherBatch(dataset, rows);
  const { kind, members, samples, width, values } = await ensemble.outputs({ prepared: features });
  for (const [output, own] of values.entries()) await writeFile(join(into, `${name}-output-${output}.f32`), own);
  await writeFile(join(into, `${name}-targets.f64`), Float64Array.from(dataset.targets));
  await writeViews(dataset, name);
  const ranks = Array.from({ length: members }, (_, rank) => rank);
  const stack = { kind, ranks, samples, width, values: values.map((own) => Float32Array.from(own)) };
  const used = usedRows(dataset, 1);
  return {
    ...heldOutSamples(stack, dataset, task, null),
    distances: await distancesTo(references, dataset, eachModel, used),
  };
}

await mkdir(into, { recursive: true });
const [given] = Object.values(data.outOfDistribution ?? {});
const validation = await predict(data.validation, 'validation');
const test = await predict(data.test, 'test');
const other = await predict(typeof given === 'function' ? await given() : given, 'other');
await writeViews(train, 'train');
await writeFile(join(into, 'train-targets.f64'), Float64Array.from(train.targets));

// The peers fit conformal prediction on all samples, on answers without a calibration.
const request = { ...usualRequest, calibrationShare: 1, penalty: 0.01, freeRanks: 1 };
const fit = (change: Partial<PostprocessingRequest>) =>
  fitPostprocessing({ ...request, ...change }, validation, config.seed);
const calibration = fitAsPeers(validation);
const usual = fit({ method: 'none', conformal: 'none' });
const measured = measurePostprocessing({ ...usual, calibration }, test).calibration;
const coverageOf = (conformal: PostprocessingRequest['conformal']) =>
  measurePostprocessing(fit({ method: 'none', conformal }), test).conformal;
const { scores } = measureDetection(usual, test, other, { name: 'other', kind: 'data' });
const { selective } = measurePostprocessing(fit({ method: 'none' }), test);

/**
 * The calibration as the peers fit it: without a prior, and kept whether cross-validation shows that it helps or not.
 */
function fitAsPeers(samples: HeldOut): Calibration | null {
  if (samples.kind === 'classes') return fitClassCalibration('pooled-temperature', samples);
  if (samples.kind !== 'values') return null;
  const { means, variances, columns, targets, weights } = samples;
  const { mean, variance } = pooledValues({ calibration: null }, means, variances, columns);
  return variance === null
    ? null
    : { method: 'sigma', scales: fitSigmaScales(mean, variance, targets, columns, weights) };
}

/** The temperature, or the factor of the standard deviations. */
function numberOf(fitted: Calibration | null): number | null {
  if (fitted?.method === 'pooled-temperature') return fitted.temperature;
  return fitted?.method === 'sigma' ? fitted.scales[0] : null;
}

const conformal =
  validation.kind === 'classes'
    ? { thr: coverageOf('thr'), raps: coverageOf('raps') }
    : { split: coverageOf('split'), 'sigma-scaled': coverageOf('sigma-scaled') };
const figures = {
  task,
  members: models.length,
  calibration: numberOf(calibration),
  before: measured?.before,
  after: measured?.after,
  ...conformal,
  ...scores,
  selective: { aurc: selective?.aurc, augrc: selective?.augrc },
};
await writeFile(join(into, 'tutti.json'), `${JSON.stringify(figures, null, 2)}\n`);
