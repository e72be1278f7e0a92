import { z } from 'zod';
import { explainSpaceFaults } from './faults.ts';
import { parameterSchema } from './parameter.ts';

/** The space of a study, by path of the option or name of the project's hyperparameter: `search` of a `project.ts`. */
export const searchSpaceSchema = z
  .record(z.string().min(1), parameterSchema)
  .refine((parameters) => Object.keys(parameters).length > 0, 'A search needs at least one parameter: name one.')
  .superRefine((parameters, context) => {
    for (const { path, message } of explainSpaceFaults(parameters))
      context.addIssue({ code: 'custom', path: [path], message });
  });
export type SearchSpace = z.infer<typeof searchSpaceSchema>;
