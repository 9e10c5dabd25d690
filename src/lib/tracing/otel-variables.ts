import { DiagLogLevel, diag } from '@opentelemetry/api';
import { getNumberFromEnv, getStringFromEnv } from '@opentelemetry/core';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  type BatchSpanProcessorOptions,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';

/** Runs `open`, during which OpenTelemetry reads its variables; `onWarn` gets each wrong one without its value. */
export function withWarnings<T>(onWarn: (text: string) => void, open: () => T): T {
  const warn = (text: string) => onWarn(text.replaceAll(/'[^']*'/g, "'…'"));
  const logger = { error: warn, warn, info() {}, debug() {}, verbose() {} };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  try {
    return open();
  } finally {
    // Failed exports are logged by the service, once.
    diag.disable();
  }
}

/** The batches by OTEL_BSP_…; the processor has the standard's defaults. */
export function batchOptions(): Omit<BatchSpanProcessorOptions, 'exporter'> {
  const options = {
    scheduledDelayMillis: positive('OTEL_BSP_SCHEDULE_DELAY'),
    exportTimeoutMillis: positive('OTEL_BSP_EXPORT_TIMEOUT'),
    maxQueueSize: positive('OTEL_BSP_MAX_QUEUE_SIZE'),
    maxExportBatchSize: positive('OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
  };
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}

function positive(name: string): number | undefined {
  const value = getNumberFromEnv(name);
  if (value === undefined || value > 0) return value;
  diag.warn(`${name} is ignored: it must be over 0`);
  return undefined;
}

/** The sampler by OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG. */
export function sampler(): Sampler {
  const given = getStringFromEnv('OTEL_TRACES_SAMPLER')?.trim() ?? 'parentbased_always_on';
  const ratio = getNumberFromEnv('OTEL_TRACES_SAMPLER_ARG') ?? 1;
  const samplers = {
    always_on: new AlwaysOnSampler(),
    always_off: new AlwaysOffSampler(),
    traceidratio: new TraceIdRatioBasedSampler(ratio),
  };
  const name = given.replace(/^parentbased_/, '');
  if (!Object.hasOwn(samplers, name)) {
    diag.warn(`OTEL_TRACES_SAMPLER is ignored: there is no sampler '${given}'`);
    return new ParentBasedSampler({ root: samplers.always_on });
  }
  const root = samplers[name as keyof typeof samplers];
  return name === given ? root : new ParentBasedSampler({ root });
}
