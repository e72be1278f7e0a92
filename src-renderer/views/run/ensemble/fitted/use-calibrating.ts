import { type Ref, ref } from 'vue';
import type { CalibrationRequest } from '../../../../../core/protocol/run/checkpoint-tasks.ts';
import { messageOf } from '../../../../../core/text/errors.ts';
import { useHub } from '../../../../client/use-hub.ts';

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
  const isBusy = ref(false);
  const error = ref<string | null>(null);
  const warnings = ref<readonly string[]>([]);
  const set = ref('');

  async function calibrate(request: CalibrationRequest): Promise<void> {
    isBusy.value = true;
    error.value = null;
    try {
      ({ warnings: warnings.value } = await hub.calibrate(run, request));
      await fitted();
      set.value = request.set;
    } catch (reason) {
      error.value = messageOf(reason);
    }
    isBusy.value = false;
  }

  return { isBusy, error, warnings, set, calibrate };
}
