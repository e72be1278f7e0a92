import { describeStacks } from './describe-stacks.ts';

describeStacks('cpu');
