import { describeRegularized } from './describe-regularized.ts';

describeRegularized('cpu');
