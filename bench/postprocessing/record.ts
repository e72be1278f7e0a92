import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { stackedClasses } from '../../core/metrics/index.ts';
import { classLosses } from '../../core/postprocessing/selective/losses.ts';
import { applyToClasses } from '../../core/postprocessing/apply.ts';
import { fitPostprocessing } from '../../core/postprocessing/fit.ts';
import type { ClassSamples } from '../../core/postprocessing/held-out.ts';
import { measureDetection, measurePostprocessing } from '../../core/postprocessing/measure.ts';
import { usualRequest } from '../../core/postprocessing/request.ts';
import { riskCoverageAreas } from '../../core/postprocessing/selective/risk-coverage.ts';
import { runRecordSchema } from '../../core/protocol/run/record.ts';
import { type Dataset, gatherBatch } from '../../workers/data/dataset.ts';
import { openEnsemble } from '../../workers/inference/open-ensemble.ts';
import { loadProject, loadProjectData, parseHyperparameters } from '../../workers/project/load-project.ts';

/**
 * Predicts the validation, test and other samples of a run of `bench/projects/known-classes` with all members, measures its postprocessing, and writes the logits and
 * figures to a folder, from which `bench/peers/postprocessing.py` computes the same figures with TorchUncertainty and MAPIE:
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

async function predict(dataset: Dataset | undefined, name: string): Promise<ClassSamples> {
  if (dataset === undefined) throw new Error(`The project has no ${name} split.`);
  const { features } = gatherBatch(
    dataset,
    Int32Array.from({ length: dataset.length }, (_, row) => row),
  );
  const { members, samples, width, values } = await ensemble.outputs({ prepared: features });
  const targets = Int32Array.from(dataset.targets);
  await writeFile(join(into, `${name}-logits.f32`), values[0]);
  await writeFile(join(into, `${name}-targets.i32`), targets);
  return {
    kind: 'classes',
    stack: stackedClasses({ kind: 'logits', members, samples, width, values: values[0] }),
    targets,
  };
}

await mkdir(into, { recursive: true });
const [given] = Object.values(data.outOfDistribution ?? {});
const validation = await predict(data.validation, 'validation');
const test = await predict(data.test, 'test');
const other = await predict(typeof given === 'function' ? await given() : given, 'other');

const request = { ...usualRequest, calibrationShare: 1, penalty: 0.01, freeRanks: 1 };
const fitted = fitPostprocessing(request, validation, config.seed);
const { calibration } = measurePostprocessing(fitted, test);
const coverageOf = (conformal: 'thr' | 'raps') =>
  measurePostprocessing(fitPostprocessing({ ...request, method: 'none', conformal }, validation, config.seed), test)
    .conformal;
const plain = applyToClasses({ calibration: null, conformal: null, outside: null, selective: null }, test.stack);
const { scores } = measureDetection(fitted, test, other, { name: 'other', kind: 'data' });
const figures = {
  members: test.stack.members,
  temperature: fitted.calibration?.method === 'pooled-temperature' ? fitted.calibration.temperature : null,
  before: calibration?.before,
  after: calibration?.after,
  thr: coverageOf('thr'),
  raps: coverageOf('raps'),
  entropy: scores.entropy,
  'mutual-information': scores['mutual-information'],
  energy: scores.energy,
  selective: riskCoverageAreas(plain.confidence, classLosses(plain.probabilities, test.targets)),
};
await writeFile(join(into, 'tutti.json'), `${JSON.stringify(figures, null, 2)}\n`);
