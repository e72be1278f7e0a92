import { beforeAll, describe } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { describeOpMatrix } from '../../unit/backends/describe-op-matrix.ts';
import { describeInnerLayers } from '../../unit/inner-members/describe-inner-layers.ts';
import { useSwiftShader } from '../../environment/webgpu.ts';
import { notRun } from '../../environment/reasons.ts';

const obstacle = await useSwiftShader();

describe.skipIf(obstacle !== null)(`ops${notRun(obstacle)}`, () => {
  beforeAll(async () => void (await startBackend('webgpu')));
  // SwiftShader compiles a shader for each shape, hence few draws. WebGPU bounds the error of sine and cosine by 2⁻¹¹.
  describeOpMatrix('webgpu', { share: 0.05, recorded: 0.1, bounds: { sin: 5e-4, cos: 5e-4 } });
});

describeInnerLayers('webgpu', { missing: obstacle, every: 4 });
