import { useOpenTelemetry } from '@envelop/opentelemetry';
import { usePrometheus } from '@envelop/prometheus';
import { SimpleSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Registry } from 'prom-client';
import type { OtherPlugin } from '../../engine/index.ts';

export interface Outputs {
  readonly spans: SpanExporter;
  readonly metrics: Registry;
}

/** A span for each operation, and a count of each field that is resolved. */
export function examplePlugins({ spans, metrics }: Outputs): OtherPlugin[] {
  const provider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter: spans })],
  });
  return [
    // Documents and variables may have passwords in them, and results are personal.
    useOpenTelemetry({ document: false, variables: false, result: false }, provider),
    usePrometheus({
      registry: metrics,
      metrics: {
        graphql_envelop_request: true,
        graphql_envelop_error_result: true,
        graphql_envelop_execute_resolver: true,
      },
      // A client names operations as it likes, so the name would be a series for each.
      labels: { operationName: false },
    }),
  ];
}
