import type { Config } from '../config.ts';
import type { Log } from '../lib/log.ts';
import type { Tracing } from '../lib/tracing/tracing.ts';
import type { Metrics } from './metrics.ts';

/** Null where tracing is off. OpenTelemetry's packages, 30 MB in memory, are loaded only where it is on. */
export async function openConfiguredTracing(
  { tracing: settings }: Config,
  metrics: Metrics,
  log: Log,
): Promise<Tracing | null> {
  if (settings === null) return null;
  const { SdkTracing } = await import('../lib/tracing/sdk-tracing.ts');
  return new SdkTracing({
    settings,
    log,
    onDropped: (reason, spans) => metrics.spansDropped.register(reason).add(spans),
  });
}
