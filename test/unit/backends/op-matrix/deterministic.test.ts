import { beforeAll } from 'vitest';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { describeOpMatrix } from '../describe-op-matrix.ts';

beforeAll(async () => void (await startBackend('wasm', { determinism: 'deterministic' })));

describeOpMatrix('wasm, deterministic', { share: 0.5 });
