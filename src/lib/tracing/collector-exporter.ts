import { createNoopMeter, type Meter, type MeterProvider } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Log } from '../log.ts';
import { reasonOf } from '../reason-of.ts';
import type { TracingSettings } from './tracing.ts';

interface CollectorExporterOptions {
  readonly settings: TracingSettings;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly onFailed: (spans: number) => void;
}

/** Posts batches of spans as OTLP in JSON. A collector that is away is logged once, not with each batch. */
export class CollectorExporter implements SpanExporter {
  readonly #options: CollectorExporterOptions;
  readonly #exporter: OTLPTraceExporter;
  #isFailing = false;

  constructor(options: CollectorExporterOptions) {
    this.#options = options;
    const { url, headers, timeoutMs, compression } = options.settings;
    this.#exporter = new OTLPTraceExporter({
      url,
      headers: { ...headers },
      compression: compression as NonNullable<ExporterOptions['compression']>,
      ...(timeoutMs !== undefined && { timeoutMillis: timeoutMs }),
    });
  }

  export(spans: ReadableSpan[], done: Parameters<SpanExporter['export']>[1]): void {
    this.#exporter.export(spans, (result) => {
      this.#ended(spans.length, result.error);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  forceFlush(): Promise<void> {
    return this.#exporter.forceFlush();
  }

  #ended(spans: number, error: Error | undefined): void {
    const { log, onFailed } = this.#options;
    if (error) onFailed(spans);
    const isFailing = error !== undefined;
    if (isFailing === this.#isFailing) return;
    this.#isFailing = isFailing;
    if (error) log.warn({ reason: reasonOf(error) }, 'spans cannot be exported and are dropped');
    else log.info({}, 'spans are exported again');
  }
}

type ExporterOptions = NonNullable<ConstructorParameters<typeof OTLPTraceExporter>[0]>;

/** The SDK reports spans for which its queue had no room by a metric alone. */
export function countQueueDrops(onDropped: (spans: number) => void): MeterProvider {
  const meter: Meter = Object.create(createNoopMeter(), {
    createCounter: {
      value: () => ({
        add(spans: number, attributes?: Readonly<Record<string, unknown>>) {
          if (attributes?.['error.type'] === 'queue_full') onDropped(spans);
        },
      }),
    },
  });
  return { getMeter: () => meter };
}
