import { describeOptions, type OptionDescription, type PlainObject } from '../../../core/options/index.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { withChanges } from '../../../core/protocol/run/settings.ts';
import type { DescribedProject, RunPreview, RunRequest } from '../../../core/protocol/pages/project-views.ts';
import type { HubApi } from '../../../core/protocol/pages/rpc.ts';
import { overridesFrom } from './form-values.ts';

/** The request that a form makes, for a new or a resumed run. */
export type FormRequest = Omit<RunRequest, 'projectFolder'>;

/** The subject of a form: a new run, or one to resume. */
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
  standardName: 'default' | 'current';
  /** The changes at the start. */
  initial: PlainObject;
  /** Whether the user may choose a name and a folder. */
  isNew: boolean;
  preview(request: FormRequest): Promise<RunPreview>;
  /** @returns the run's id */
  begin(request: FormRequest): Promise<string>;
}

type Hub = Pick<HubApi, 'previewRun' | 'startRun' | 'previewResume' | 'resumeRun'>;

/** @param from the run whose configuration the form starts with */
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

/** A run to resume. Its saved states fix the members and the project's hyperparameters, so the form leaves them out. */
export function resumedRun(hub: Hub, { id, name, project, config, changed }: RunRecord): FormSubject {
  const options = describeOptions(runConfigSchema);
  return {
    key: `resume ${id}`,
    title: `Resume ${name}`,
    description: 'Continues from the newest state that all members saved, with your changes.',
    origin: project.name,
    projectFolder: project.folder,
    options: options.filter(({ path }) => path !== 'members' && path !== 'hyperparameters'),
    standard: withChanges(config, changed),
    standardName: 'current',
    initial: {},
    isNew: false,
    preview: ({ overrides }) => hub.previewResume(id, overrides),
    begin: async ({ overrides }) => {
      await hub.resumeRun(id, overrides, null);
      return id;
    },
  };
}
