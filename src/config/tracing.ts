import type { SamplerSettings, TracingSettings } from '../lib/tracing/tracing.ts';
import type { Variables } from './given-value.ts';
import { LONGEST_MS } from './kinds.ts';

interface ReadTracing {
  /** Null where tracing is off. */
  readonly tracing: TracingSettings | null;
  /** The mistakes in the variables; OpenTelemetry specifies that none of them stops a start. */
  readonly warnings: readonly string[];
}

const SERVICE_NAME = 'trading-graph';
const ALL_TRACES: SamplerSettings = { root: 'always_on', isParentBased: true, ratio: 1 };
const SAMPLER = /^(parentbased_)?(always_on|always_off|traceidratio)$/;

/**
 * The variables that OpenTelemetry defines, as far as the program follows them. They are no settings
 * of its own: their meaning, and that a wrong one is ignored with a warning, is OpenTelemetry's.
 */
export function readTracing(environment: Variables, endpoint: string | null): ReadTracing {
  const warnings: string[] = [];
  const reader = new OtelVariables(environment, warnings);
  const url =
    reader.webUrl('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ??
    (endpoint === null ? null : `${endpoint.replace(/\/$/, '')}/v1/traces`);
  const isDisabled =
    reader.text('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' ||
    reader.oneOf(['OTEL_TRACES_EXPORTER'], ['otlp', 'none']) === 'none';
  if (url === null || isDisabled) return { tracing: null, warnings: [] };
  const protocols = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];
  reader.oneOf(protocols, ['http/json']);
  const timeoutMs = reader.number(
    ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'OTEL_EXPORTER_OTLP_TIMEOUT'],
    1,
  );
  const compressions = ['OTEL_EXPORTER_OTLP_TRACES_COMPRESSION', 'OTEL_EXPORTER_OTLP_COMPRESSION'];
  const tracing: TracingSettings = {
    url,
    headers: {
      ...reader.pairs('OTEL_EXPORTER_OTLP_HEADERS'),
      ...reader.pairs('OTEL_EXPORTER_OTLP_TRACES_HEADERS'),
    },
    ...(timeoutMs !== null && { timeoutMs }),
    compression: reader.oneOf(compressions, ['none', 'gzip']) ?? 'none',
    resource: {
      'service.name': SERVICE_NAME,
      ...reader.pairs('OTEL_RESOURCE_ATTRIBUTES'),
      ...reader.named('service.name', 'OTEL_SERVICE_NAME'),
    },
    sampler: samplerOf(reader),
    batch: {
      ...reader.amount('scheduledDelayMillis', 'OTEL_BSP_SCHEDULE_DELAY'),
      ...reader.amount('exportTimeoutMillis', 'OTEL_BSP_EXPORT_TIMEOUT'),
      ...reader.amount('maxQueueSize', 'OTEL_BSP_MAX_QUEUE_SIZE'),
      ...reader.amount('maxExportBatchSize', 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
    },
  };
  return { tracing, warnings };
}

function samplerOf(reader: OtelVariables): SamplerSettings {
  const name = reader.text('OTEL_TRACES_SAMPLER');
  if (name === null) return ALL_TRACES;
  const [, parentBased, root] = SAMPLER.exec(name) ?? [];
  if (root === undefined) {
    const names = 'always_on, always_off, traceidratio, each also with parentbased_ before it';
    reader.warn('OTEL_TRACES_SAMPLER', `one of ${names}`);
    return ALL_TRACES;
  }
  return {
    root: root as SamplerSettings['root'],
    isParentBased: parentBased !== undefined,
    ratio: root === 'traceidratio' ? reader.ratio('OTEL_TRACES_SAMPLER_ARG') : 1,
  };
}

class OtelVariables {
  readonly #environment: Variables;
  readonly #warnings: string[];

  constructor(environment: Variables, warnings: string[]) {
    this.#environment = environment;
    this.#warnings = warnings;
  }

  /** Values are not shown: headers and addresses may contain secrets. */
  warn(name: string, allowed: string): void {
    this.#warnings.push(`${name} is ignored: it must be ${allowed}`);
  }

  /** An empty value counts as unset. */
  text(name: string): string | null {
    return this.#environment[name]?.trim() || null;
  }

  /** The first variable that is set, where its value is one of the choices. */
  oneOf<const Choice extends string>(names: string[], choices: readonly Choice[]): Choice | null {
    const name = this.#firstSet(names);
    if (name === undefined) return null;
    const value = choices.find((choice) => choice === this.text(name)) ?? null;
    if (value === null) this.warn(name, choices.join(' or '));
    return value;
  }

  number(names: string[], least: number): number | null {
    const name = this.#firstSet(names);
    const text = name === undefined ? null : this.text(name);
    if (name === undefined || text === null) return null;
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= LONGEST_MS) return value;
    this.warn(name, `a whole number, ${least} to ${LONGEST_MS}`);
    return null;
  }

  /** A number under a property's name; nothing where the variable is not set. */
  amount<const Key extends string>(key: Key, name: string): { readonly [K in Key]?: number } {
    const value = this.number([name], 1);
    return value === null ? {} : ({ [key]: value } as { [K in Key]: number });
  }

  named(key: string, name: string): Readonly<Record<string, string>> {
    const value = this.text(name);
    return value === null ? {} : { [key]: value };
  }

  ratio(name: string): number {
    const text = this.text(name);
    const ratio = text === null ? 1 : Number(text);
    if (ratio >= 0 && ratio <= 1) return ratio;
    this.warn(name, 'a number from 0 to 1');
    return 1;
  }

  webUrl(name: string): string | null {
    const text = this.text(name);
    if (text === null) return null;
    if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text;
    this.warn(name, 'an http or https address');
    return null;
  }

  /** `name=value` with commas between them, values percent-encoded. */
  pairs(name: string): Readonly<Record<string, string>> {
    const pairs: Record<string, string> = {};
    for (const pair of this.text(name)?.split(',') ?? []) {
      const [, key, value] = /^\s*([^\s=]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
      const decoded = value === undefined ? null : decode(value);
      if (key === undefined || decoded === null) this.warn(name, 'name=value, name=value, …');
      else pairs[key] = decoded;
    }
    return pairs;
  }

  #firstSet(names: readonly string[]): string | undefined {
    return names.find((name) => this.text(name) !== null);
  }
}

function decode(value: string): string | null {
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}
