import { describeOptions, type OptionDescription, type PlainObject } from '../../../core/options/index.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { withChanges } from '../../../core/protocol/run/settings.ts';
import type { DescribedProject, RunPreview, RunRequest } from '../../../core/protocol/pages/project-views.ts';
import type { HubApi } from '../../../core/protocol/pages/rpc.ts';
import { overridesFrom } from './form-values.ts';

/** What a form asks for, whatever it is of. */
export type FormRequest = Omit<RunRequest, 'projectFolder'>;

/** What a form is of: a new run, or one that goes on. */
export interface FormSubject {
  /** Forms of different subjects share nothing. */
  key: string;
  title: string;
  description: string;
  /** Where it comes from, beside the title; null where there is nothing to say. */
  origin: string | null;
  projectFolder: string;
  options: readonly OptionDescription[];
  /** Values while nothing is changed. */
  standard: PlainObject;
  /** What these are called. */
  standardName: 'default' | 'so far';
  /** What is changed at first. */
  initial: PlainObject;
  /** Whether it gets a name and a folder. */
  isNew: boolean;
  preview(request: FormRequest): Promise<RunPreview>;
  /** @returns the run's id */
  begin(request: FormRequest): Promise<string>;
}

type Hub = Pick<HubApi, 'previewRun' | 'startRun' | 'previewResume' | 'resumeRun'>;

/** @param from the run whose configuration it begins with */
export function newRun(hub: Hub, folder: string, project: DescribedProject, from: RunRecord | null): FormSubject {
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
    isNew: true,
    preview: (request) => hub.previewRun({ projectFolder: folder, ...request }),
    begin: async (request) => (await hub.startRun({ projectFolder: folder, ...request })).id,
  };
}

/** A run that goes on: with all options but those that its saved states depend on, members and the project's hyperparameters. */
export function resumedRun(hub: Hub, { id, name, project, config, changed }: RunRecord): FormSubject {
  const options = describeOptions(runConfigSchema);
  return {
    key: `resume ${id}`,
    title: `Resume ${name}`,
    description: 'It goes on from the newest state that all its members saved, with what is changed here.',
    origin: project.name,
    projectFolder: project.folder,
    options: options.filter(({ path }) => path !== 'members' && path !== 'hyperparameters'),
    standard: withChanges(config, changed),
    standardName: 'so far',
    initial: {},
    isNew: false,
    preview: ({ overrides }) => hub.previewResume(id, overrides),
    begin: async ({ overrides }) => {
      await hub.resumeRun(id, overrides);
      return id;
    },
  };
}
