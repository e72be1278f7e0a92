import { describeGolden } from './describe-golden.ts';

describeGolden('cpu');
