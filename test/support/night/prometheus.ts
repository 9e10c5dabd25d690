import { join } from 'node:path';
import { HASTENED_BY, hastened } from './hastened.ts';
import { startServer } from './server.ts';

export interface Prometheus extends AsyncDisposable {
  /** The names of the alerts that fire now. */
  firing(): Promise<ReadonlySet<string>>;
}

interface AlertsAnswer {
  readonly data: {
    readonly alerts: readonly { readonly state: string; readonly labels: { alertname: string } }[];
  };
}

const SCRAPE_MS = 15_000;
const RESEND_MS = 60_000;

/** A Prometheus with the rules of `deploy/prometheus`, which scrapes a service and tells an Alertmanager. */
export async function startPrometheus(
  path: string,
  service: string,
  alertmanager: string,
): Promise<Prometheus> {
  const interval = `${SCRAPE_MS / HASTENED_BY}ms`;
  const targetsOf = (url: string) => [{ targets: [new URL(url).host] }];
  const readiness = { source_labels: ['__name__'], regex: 'trading_graph_ready', action: 'keep' };
  const configuration = {
    global: { scrape_interval: interval, evaluation_interval: interval, scrape_timeout: interval },
    rule_files: ['alerts.yml'],
    alerting: { alertmanagers: [{ static_configs: targetsOf(alertmanager) }] },
    scrape_configs: [
      { job_name: 'trading-graph', static_configs: targetsOf(service) },
      {
        // In place of a probe from outside.
        job_name: 'trading-graph-front',
        static_configs: targetsOf(service),
        metric_relabel_configs: [
          readiness,
          { target_label: '__name__', replacement: 'probe_success' },
        ],
      },
    ],
  };
  const files = {
    'alerts.yml': await hastened('alerts.yml'),
    'prometheus.yml': JSON.stringify(configuration),
  };
  const server = await startServer(path, files, (folder) => [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    // It says again and again that an alert fires, or Alertmanager takes it for over.
    `--rules.alert.resend-delay=${RESEND_MS / HASTENED_BY}ms`,
  ]);
  return {
    async firing() {
      const { data } = (await (await fetch(`${server.url}/api/v1/alerts`)).json()) as AlertsAnswer;
      const firing = data.alerts.filter(({ state }) => state === 'firing');
      return new Set(firing.map(({ labels }) => labels.alertname));
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
