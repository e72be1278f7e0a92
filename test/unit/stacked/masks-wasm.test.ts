import { describeMasks } from './describe-masks.ts';

describeMasks('wasm');
