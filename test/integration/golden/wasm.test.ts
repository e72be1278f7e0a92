import { describeGolden } from './describe-golden.ts';

describeGolden('wasm');
