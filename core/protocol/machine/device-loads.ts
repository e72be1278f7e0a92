/** What a device did since the last time it was looked at. Null: it does not tell, or there is nothing to compare with yet. */
export interface DeviceLoad {
  /** `cuda:0`, `cpu:1`. */
  device: string;
  /** Share of time it was busy, 0 to 1, whoever used it. */
  load: number | null;
  memoryUsedBytes: number | null;
}

/** The loads of devices at one moment. */
export interface LoadSample {
  /** ISO 8601. */
  time: string;
  loads: DeviceLoad[];
}

/** The loads of one device over time, ascending; NaN where one is unknown. */
export interface DeviceLoadColumns {
  device: string;
  /** Milliseconds since 1970, at the end of what each load is the mean of. */
  timeMs: Float64Array;
  load: Float64Array;
  memoryBytes: Float64Array;
}
