import { expect, it } from 'vitest';
import { decodeSafetensors, encodeSafetensors } from '../../../../core/safetensors/safetensors.ts';
import { History } from '../../../../workers/training/history.ts';

it('survives a file exactly, including NaN and series of different lengths', () => {
  const history = new History();
  history.record(new Map([['val/ens_nll', 0.1]]), 0, 3);
  history.record(
    new Map([
      ['val/ens_nll', NaN],
      ['val/member_0_nll', Infinity],
    ]),
    1,
    6,
  );
  const { tensors } = decodeSafetensors(encodeSafetensors(history.toTensors()));
  const other = { name: 'weights/dense_0/kernel', dtype: 'F32' as const, shape: [1], data: new Float32Array(1) };
  const read = History.fromTensors([other, ...tensors]).series;
  expect([...read.keys()].sort()).toEqual(['val/ens_nll', 'val/member_0_nll']);
  expect(read.get('val/ens_nll')).toEqual({ epochs: [0, 1], steps: [3, 6], values: [0.1, NaN] });
  expect(read.get('val/member_0_nll')).toEqual({ epochs: [1], steps: [6], values: [Infinity] });
});
