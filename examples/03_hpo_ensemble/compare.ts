import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { formatSignificant, saveFigure } from 'tutti-ensembles';
import { bestTrial, errorOf, leftOutGains, meanOf } from './choices.ts';
import { weightDecayFigure } from './figures.ts';
import { searchStudy } from './study.ts';

/**
 * Searches the weight decay with one study, and compares the trial that is best for the ensemble with the one that is
 * best for its members. A comparison that was interrupted goes on.
 * `node examples/03_hpo_ensemble/compare.ts <folder> [--table wine] [--trials 24] [--splits 3] [--epochs 400] [-- options of tutti search]`
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    table: { type: 'string', default: 'wine' },
    trials: { type: 'string', default: '24' },
    splits: { type: 'string', default: '3' },
    epochs: { type: 'string', default: '400' },
    members: { type: 'string', default: '8' },
  },
});
const [folder, ...given] = positionals;
if (folder === undefined) throw new Error('Name a folder for the figure.');
const { table, members, epochs } = values;

const splits = Array.from({ length: Number(values.splits) }, (_, split) => split);
const settings: [option: string, value: string][] = [
  ['--name', `weight decay, ${table}`],
  ['--trials', values.trials],
  ['--sampler', 'quasi-random'],
  ['--objective', 'ensemble'],
  ['--objective', 'mean-member'],
  ['--splits', `split=${splits.join(',')}`],
  ['--members', members],
  ['--max-epochs', epochs],
  ['--set', `table=${table}`],
  // Only the last weights count, so that neither the ensemble nor its members gain from a choice among epochs.
  ['--set', `evaluateEveryEpochs=${epochs}`],
  ['--set', 'checkpoints.ensembleBest=false'],
  ['--set', 'checkpoints.memberBest=false'],
  ['--set', 'checkpoints.final=false'],
  ['--set', 'keepPredictions=none'],
];
const trials = await searchStudy(join(folder, `${table}.study`), [...settings.flat(), ...given]);
await saveFigure(folder, `weight-decay-${table}`, weightDecayFigure(table, Number(members), trials));
report();

function report(): void {
  const names = ['table', 'best for', 'weight decay', 'MSE of the ensemble', 'MSE of the mean member'];
  console.log(`| ${names.join(' | ')} |\n|${' --- |'.repeat(names.length)}`);
  for (const [aim, name] of [
    ['ensemble', 'the ensemble'],
    ['meanMember', 'its members'],
  ] as const) {
    const { weightDecay, ensemble, meanMember } = bestTrial(trials, aim);
    const cells = [table, name, formatSignificant(weightDecay, 3), withError(ensemble), withError(meanMember)];
    console.log(`| ${cells.join(' | ')} |`);
  }
  const [forEnsemble, forMembers] = [bestTrial(trials, 'ensemble'), bestTrial(trials, 'meanMember')];
  const gains = forEnsemble.ensemble.map((error, split) => forMembers.ensemble[split] - error);
  console.log(`\nGain of the ensemble on the same splits: ${withError(gains)}`);
  if (gains.length > 1) console.log(`Chosen on the other splits: ${withError(leftOutGains(trials))}`);
}

/** The mean over splits and its standard error. */
function withError(perSplit: readonly number[]): string {
  const error = errorOf(perSplit);
  return `${meanOf(perSplit).toFixed(4)}${Number.isNaN(error) ? '' : ` ± ${error.toFixed(4)}`}`;
}
