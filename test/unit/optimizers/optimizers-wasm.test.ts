import { describeGolden } from './describe-optimizers.ts';

describeGolden('wasm');
