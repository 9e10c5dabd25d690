import { type Context, createContextKey, DiagLogLevel, diag } from '@opentelemetry/api';
import { getNumberFromEnv, getStringFromEnv } from '@opentelemetry/core';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  type BatchSpanProcessorOptions,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';

/** Set on the context of what is sampled whatever the ratio, and whatever a parent decided. */
export const ALWAYS_SAMPLED = createContextKey('always sampled');

interface Variables {
  readonly resource: Resource;
  readonly sampler: Sampler;
  readonly batch: Omit<BatchSpanProcessorOptions, 'exporter'>;
}

/** Hands on what OpenTelemetry's variables say; of a wrong one `onWarn` is told, without its value. */
export function readVariables<T>(
  version: string,
  onWarn: (text: string) => void,
  open: (read: Variables) => T,
): T {
  const warn = (text: string) => onWarn(text.replaceAll(/'[^']*'/g, "'…'"));
  const logger = { error: warn, warn, info() {}, debug() {}, verbose() {} };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  try {
    return open({
      resource: defaultResource()
        .merge(
          resourceFromAttributes({ 'service.name': 'trading-graph', 'service.version': version }),
        )
        .merge(detectResources({ detectors: [envDetector] })),
      sampler: sampler(),
      batch: {
        ...number('scheduledDelayMillis', 'OTEL_BSP_SCHEDULE_DELAY'),
        ...number('exportTimeoutMillis', 'OTEL_BSP_EXPORT_TIMEOUT'),
        ...number('maxQueueSize', 'OTEL_BSP_MAX_QUEUE_SIZE'),
        ...number('maxExportBatchSize', 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
      },
    });
  } finally {
    // Its later reports of each export are counted and logged once.
    diag.disable();
  }
}

function number<const Key extends string>(
  key: Key,
  name: string,
): { readonly [K in Key]?: number } {
  const value = getNumberFromEnv(name);
  if (value !== undefined && value > 0) return { [key]: value } as { [K in Key]: number };
  if (value !== undefined) diag.warn(`${name} is ignored: it must be over 0`);
  return {};
}

function sampler(): Sampler {
  const given = getStringFromEnv('OTEL_TRACES_SAMPLER')?.trim() ?? 'parentbased_always_on';
  const [, parentBased, name] =
    /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(given) ?? [];
  if (name === undefined) {
    diag.warn(`OTEL_TRACES_SAMPLER is ignored: there is no sampler '${given}'`);
  }
  const ratio = getNumberFromEnv('OTEL_TRACES_SAMPLER_ARG') ?? 1;
  const root = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  }[(name ?? 'always_on') as 'always_on' | 'always_off' | 'traceidratio']();
  const followsParent = parentBased !== undefined || name === undefined;
  const chosen = followsParent ? new ParentBasedSampler({ root }) : root;
  return name === 'always_off' ? chosen : alwaysSamplingSome(chosen);
}

/** A sampler with what is always sampled on top. All spans of such a trace are: their contexts have the key as well. */
function alwaysSamplingSome(others: Sampler): Sampler {
  return {
    shouldSample: (context: Context, ...rest) =>
      context.getValue(ALWAYS_SAMPLED) === true
        ? { decision: SamplingDecision.RECORD_AND_SAMPLED }
        : others.shouldSample(context, ...rest),
    toString: () => `AlwaysSamplingSome{${others}}`,
  };
}
