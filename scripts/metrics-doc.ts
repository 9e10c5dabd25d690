import { Histogram } from 'prom-client';
import { Metrics } from '../src/app/metrics.ts';
import type { DomainMetrics } from '../src/domain/domain-metrics.ts';

const INTRODUCTION = `# Metrics

<!-- Written by \`npm run docs\` from what src/app/metrics.ts registers. -->

All metrics of \`GET /metrics\` on \`ADMIN_HOST:ADMIN_PORT\`, in Prometheus’ text format, besides \`process_*\` and \`nodejs_*\` of \`prom-client\`. Every series of a fixed set of labels is there from the
start, at 0; groups are those whose catalogs are in memory. \`trading_graph_…_total\` are counters; histograms say so; all others are gauges.

\`outcome\` of requests is as [in the log](deployment.md#a-line-for-each-request); an answer with status 200 that has errors is not \`ok\`.

`;

/** docs/metrics.md, from the metrics that the program registers. */
export function metricsPage(): string {
  const metrics = new Metrics();
  // Nothing is read from these empty objects before a scrape.
  metrics.domain.watch({} as Parameters<DomainMetrics['watch']>[0]);
  metrics.watch({} as Parameters<Metrics['watch']>[0]);
  return INTRODUCTION + metrics.registry.getMetricsAsArray().map(line).join('');
}

/** The fields of a metric that are missing in prom-client's types. */
interface Described {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

function line(metric: object): string {
  const { name, help, labelNames } = metric as Described;
  const labels = labelNames.length === 0 ? '' : `{${labelNames.join(',')}}`;
  const isHistogram = metric instanceof Histogram;
  return `- \`${name}${labels}\`: ${isHistogram ? 'Histogram. ' : ''}${help}\n`;
}
