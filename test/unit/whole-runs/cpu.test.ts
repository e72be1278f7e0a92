import { describeWholeRuns } from './describe-whole-runs.ts';

describeWholeRuns('cpu', { mostForms: 1, mostSteps: 50 });
