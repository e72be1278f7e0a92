import { describeLayers } from './describe-layers.ts';

describeLayers('wasm');
