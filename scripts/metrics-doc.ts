import { Metrics } from '../src/app/metrics.ts';
import type { Metric } from '../src/lib/metrics/registry.ts';

const INTRODUCTION = `# Metrics

<!-- Written by \`npm run docs\` from what src/app/metrics.ts registers. -->

All metrics of \`GET /metrics\` on \`ADMIN_HOST:ADMIN_PORT\`, in Prometheus’ text format, beside \`process_*\` and \`nodejs_*\` of \`prom-client\`. Every series of a fixed set of labels is there from the
start, at 0. Of documents only the operations of a manifest have a name (the first 50; all else is \`other\`), of groups
those whose catalogs are in memory. \`trading_graph_…_total\` are counters; histograms say so; all else are gauges.

\`outcome\` of requests is as [in the log](operations.md#a-line-for-each-request); an answer with status 200 that has errors is no \`ok\`.

`;

/** docs/metrics.md, from the metrics that the program registers. */
export function metricsPage(): string {
  return INTRODUCTION + new Metrics().registry.metrics.map(line).join('');
}

function line({ name, type, labelNames, help }: Metric): string {
  if ((type === 'counter') !== name.endsWith('_total')) throw new Error(`${name} is a ${type}`);
  const labels = labelNames.length > 0 ? `{${labelNames.join()}}` : '';
  const kind = type === 'histogram' ? 'Histogram. ' : '';
  return `- \`${name}${labels}\`: ${kind}${help}\n`;
}
