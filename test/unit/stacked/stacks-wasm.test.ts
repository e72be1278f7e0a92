import { describeStacks } from './describe-stacks.ts';

describeStacks('wasm');
