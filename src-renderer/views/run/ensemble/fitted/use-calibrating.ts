import { type Ref, ref } from 'vue';
import type { CalibrationRequest } from '../../../../../core/protocol/run/checkpoint-tasks.ts';
import { useHub } from '../../../../client/use-hub.ts';
import { useAction } from '../../../../composables/use-action.ts';

export interface Calibrating {
  isBusy: Readonly<Ref<boolean>>;
  error: Readonly<Ref<string | null>>;
  /** Possible differences from the time when the run trained. */
  warnings: Readonly<Ref<readonly string[]>>;
  /** The set that was calibrated last; empty before. */
  set: Ref<string>;
  calibrate(request: CalibrationRequest): Promise<void>;
}

/** Calibrates sets of a run. @param fitted called once a set was calibrated */
export function useCalibrating(run: string, fitted: () => Promise<void>): Calibrating {
  const hub = useHub();
  const { isBusy, error, act } = useAction();
  const warnings = ref<readonly string[]>([]);
  const set = ref('');

  async function calibrate(request: CalibrationRequest): Promise<void> {
    await act(async () => {
      ({ warnings: warnings.value } = await hub.calibrate(run, request));
      await fitted();
      set.value = request.set;
    });
  }

  return { isBusy, error, warnings, set, calibrate };
}
