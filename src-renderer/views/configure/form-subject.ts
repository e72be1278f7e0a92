import { describeOptions, type OptionDescription, type PlainObject } from '../../../core/options/index.ts';
import { type RunConfig, runConfigSchema } from '../../../core/protocol/run/config.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { mayResize } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import { withChanges } from '../../../core/protocol/run/settings.ts';
import type { ForkRequest, ForkStart } from '../../../core/protocol/pages/run-views.ts';
import type {
  DescribedProject,
  RunPreview,
  RunRequest,
  StartedRun,
} from '../../../core/protocol/pages/project-views.ts';
import type { HubApi } from '../../../core/protocol/pages/hub-methods.ts';
import { beginningOf } from '../run/configuration/use-relatives.ts';
import { overridesFrom } from './form-values.ts';

/** The request that a form makes, for a new, a forked or a resumed run. */
export type FormRequest = Omit<RunRequest, 'projectFolder'> & Pick<ForkRequest, 'currentSource'>;

/** The subject of a form: a new run, a fork of one, or one to resume. */
export interface FormSubject {
  /** Forms with different keys share no state. */
  key: string;
  title: string;
  description: string;
  /** Its origin, shown beside the title; null for none. */
  origin: string | null;
  projectFolder: string;
  options: readonly OptionDescription[];
  /** The values without changes. */
  standard: PlainObject;
  /** The name of these values. */
  standardName: 'default' | 'current' | 'origin';
  /** The changes at the start. */
  initial: PlainObject;
  /**
   * A resumed run has its name and folder already. Presets are changes to the defaults of a project, so only a new run
   * has them.
   */
  kind: 'new' | 'fork' | 'resume';
  preview(request: FormRequest): Promise<RunPreview>;
  begin(request: FormRequest): Promise<StartedRun>;
  /** Puts it at the end of the queue; absent for what cannot wait. @returns its place there, from 1 */
  wait?(request: FormRequest): Promise<number>;
}

type NewHub = Pick<HubApi, 'previewRun' | 'startRun' | 'enqueueRun'>;
type ResumeHub = Pick<HubApi, 'previewResume' | 'resumeRun'>;
type ForkHub = Pick<HubApi, 'previewFork' | 'startFork'>;

/** @param from the run whose configuration the form starts with */
export function newRun(hub: NewHub, folder: string, project: DescribedProject, from: RunRecord | null): FormSubject {
  const { options, defaults, description } = project;
  const standard = { ...defaults };
  return {
    key: `new ${folder} ${from?.id ?? ''}`,
    title: description.name,
    description: description.description,
    origin: from === null ? null : `as in ${from.name}`,
    projectFolder: folder,
    options,
    standard,
    standardName: 'default',
    initial: from === null ? {} : overridesFrom(options, standard, from.config),
    kind: 'new',
    preview: (request) => hub.previewRun({ projectFolder: folder, ...request }),
    begin: (request) => hub.startRun({ projectFolder: folder, ...request }),
    wait: async (request) => (await hub.enqueueRun({ projectFolder: folder, ...request })).place,
  };
}

/** A run to resume. */
export function resumedRun(hub: ResumeHub, { id, name, project, config, changed }: RunRecord): FormSubject {
  return {
    key: `resume ${id}`,
    title: `Resume ${name}`,
    description: 'Continues from the newest state that all members saved, with your changes.',
    origin: project.name,
    projectFolder: project.folder,
    options: optionsOfSaved(config),
    standard: withChanges(config, changed),
    standardName: 'current',
    initial: {},
    kind: 'resume',
    preview: ({ overrides, currentSource }) => hub.previewResume(id, overrides, currentSource ?? false),
    begin: async ({ overrides, currentSource }) => {
      await hub.resumeRun(id, overrides, null, currentSource ?? false);
      return { id, sweep: null };
    },
  };
}

/** A new run that begins at a saved point of another one. @param id the other run's */
export function forkedRun(hub: ForkHub, id: string, { point, name, project, config }: ForkStart): FormSubject {
  return {
    key: `fork ${id} ${point.name}`,
    title: `Fork of ${name}`,
    description: `${beginningOf(point)} The other run stays as it is.`,
    origin: project.name,
    projectFolder: project.folder,
    options: optionsOfSaved(config),
    standard: { ...config },
    standardName: 'origin',
    initial: {},
    kind: 'fork',
    preview: (request) => hub.previewFork(id, { point: point.name, ...request }),
    begin: async (request) => ({ ...(await hub.startFork(id, { point: point.name, ...request })), sweep: null }),
  };
}

/**
 * The options of a run that continues from saved files. They fix the project's hyperparameters and, unless ranks train
 * one model, the members.
 */
function optionsOfSaved(config: RunConfig): OptionDescription[] {
  const fixed = mayResize(config) ? ['hyperparameters'] : ['hyperparameters', 'members'];
  return describeOptions(runConfigSchema).filter(({ path }) => !fixed.includes(path));
}
