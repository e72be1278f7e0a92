import { useSwiftShader } from '../../environment/webgpu.ts';
import { describeOptimizers } from '../../unit/optimizers/describe-optimizers.ts';

describeOptimizers('webgpu', await useSwiftShader(), 4);
