export interface SamplerSettings {
  readonly root: 'always_on' | 'always_off' | 'traceidratio';
  /** The decision of a trusted caller counts, where there is one. */
  readonly isParentBased: boolean;
  /** The share of the traces that `traceidratio` samples, from 0 to 1. */
  readonly ratio: number;
}

/** Values that are left out have the defaults of OpenTelemetry's specification. */
export interface BatchSettings {
  readonly scheduledDelayMillis?: number;
  readonly exportTimeoutMillis?: number;
  readonly maxQueueSize?: number;
  readonly maxExportBatchSize?: number;
}

export interface TracingSettings {
  /** The whole address to which spans are posted. */
  readonly url: string;
  /** May contain secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly compression: 'gzip' | 'none';
  /** The attributes by which spans describe this process, `service.name` among them. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: SamplerSettings;
  readonly batch: BatchSettings;
}
