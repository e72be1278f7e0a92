import { describeWholeRuns } from './describe-whole-runs.ts';

describeWholeRuns('cpu', 1);
