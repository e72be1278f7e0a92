import { Command } from 'commander';
import packageJson from '../../../package.json' with { type: 'json' };
import { spellCommands } from '../../../core/text/program.ts';
import { exitCodes } from '../errors.ts';
import type { ProgramParts } from './common.ts';
import { addData } from './data.ts';
import { addMachine } from './machine.ts';
import { addChanging, addControlling, addQueue } from './running.ts';
import { addPredicting } from './predicting.ts';
import { addNotes, addRuns } from './runs.ts';
import { addServing } from './serving.ts';
import { addSearching } from './searching.ts';
import { addStudies } from './studies.ts';
import { addTraining } from './training.ts';

const epilogue = `
Examples:
  tutti create my-ensemble --template tabular
  tutti inspect data.csv
  tutti train examples/digits
  tutti train examples/digits --members 4 --optimizer.learning-rate 0.02
  tutti train examples/digits --help     its hyperparameters and the options that people use
  tutti train examples/digits --detach     it trains on when the terminal is closed
  tutti attach <run>
  tutti search my-ensemble --search "optimizer.learningRate=log(1e-4,0.1)" --trials 100
  tutti runs --status finished
  tutti stop <run> --at-epoch-end
  tutti set <run> optimizer.learningRate=0.001
  tutti compare <run> <run>
  tutti calibrate <run> --alpha 0.05
  tutti ensemble <run> <run> --name chosen
  tutti export <run> --to results.zip
  tutti report <run>
  tutti predict <run> --input new.csv --output predictions.csv
  tutti serve <run> --port 8000
  tutti discover <project> --acquisition ucb --rounds 100
  source <(tutti completion bash)

Ctrl-C stops a run jointly, with a last evaluation and all checkpoints; a second Ctrl-C aborts it.

Exit codes:
  ${exitCodes.finished}    the run finished, also by early stopping
  ${exitCodes.failed}    the run or the command failed, or no trial of a search is complete
  ${exitCodes.usage}    wrong arguments or a wrong configuration; nothing was started
  ${exitCodes.stopped}    the run was stopped early, but not by one of the signals below
  ${exitCodes.hungUp}  the run was aborted by SIGHUP (a closed terminal), or stopped because npm was killed
  ${exitCodes.interrupted}  the run was stopped or aborted by Ctrl-C (SIGINT)
  ${exitCodes.quit}  the run was aborted by Ctrl-\\ (SIGQUIT)
  ${exitCodes.terminated}  the run was aborted by SIGTERM`;

/** All commands of `tutti`. Each command's code is loaded when the command runs, so that help appears at once. */
export function createProgram(parts: ProgramParts): Command {
  const program = new Command('tutti')
    .description('Trains deep ensembles: one process per member, trained jointly or independently.')
    .version(packageJson.version)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => process.stdout.write(spellCommands(text)),
      writeErr: (text) => process.stderr.write(spellCommands(text)),
      outputError: (text, write) => write(withRepeatRemedy(text)),
    })
    .addHelpText('after', epilogue);
  addData(program);
  addTraining(program);
  addSearching(program);
  addStudies(program);
  addControlling(program);
  addChanging(program);
  addQueue(program);
  addRuns(program);
  addPredicting(program);
  addServing(program);
  addNotes(program);
  addMachine(program, parts);
  return program;
}

/** Says which commands repeat something, to who asked another one. */
function withRepeatRemedy(text: string): string {
  if (!text.includes("unknown option '--repeat'")) return text;
  return (
    `${text.trimEnd()}: this command draws nothing that a seed decides. Repeat the training, tutti train ` +
    `<project> --repeat <n>; \`tutti show\`, ` +
    '`compare` and `calibrate` then give means with standard errors of its sweep.\n'
  );
}
