import { beforeAll } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { describeOpMatrix } from './describe-op-matrix.ts';

beforeAll(async () => void (await startBackend('cpu')));

describeOpMatrix('cpu');
