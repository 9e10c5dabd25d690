import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-ports.ts';
import { startProgram } from '../started-program.ts';
import { dividedTimes } from './divided-times.ts';

export interface FiringAlert {
  readonly name: string;
  readonly isPage: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly summary: string;
  readonly runbook: string;
}

export interface Prometheus extends AsyncDisposable {
  firing(): Promise<readonly FiringAlert[]>;
}

export interface PrometheusOptions {
  /** The hosts and ports of what it scrapes. */
  readonly targets: readonly string[];
  /** The address of an Alertmanager. */
  readonly alertmanager: string;
  /** What asks the front door, as blackbox_exporter does. */
  readonly probe: string;
  /** Times of the rules are divided by it, and of the scrape, so that a window has as many samples as in reality. */
  readonly hastenedBy: number;
}

interface AlertsAnswer {
  readonly data: {
    readonly alerts: readonly {
      readonly state: string;
      readonly labels: Readonly<Record<string, string>>;
      readonly annotations: Readonly<Record<string, string>>;
    }[];
  };
}

const RULES = new URL('../../../deploy/prometheus/alerts.yml', import.meta.url);
const SCRAPE_MS = 15_000;
const RESEND_MS = 60_000;

/** A Prometheus with the rules of `deploy/prometheus`, which scrapes and judges as often as that of `deploy/` does. */
export async function startPrometheus(
  path: string,
  { targets, alertmanager, probe, hastenedBy }: PrometheusOptions,
): Promise<Prometheus> {
  await using started = new AsyncDisposableStack();
  const folder = started.use(await mkdtempDisposable(join(tmpdir(), 'trading-graph-prometheus-')));
  const config = join(folder.path, 'prometheus.yml');
  await writeFile(join(folder.path, 'alerts.yml'), dividedTimes(await readRules(), hastenedBy));
  await writeFile(config, configuration(targets, probe, alertmanager, SCRAPE_MS / hastenedBy));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(folder.path, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    // It says again and again that an alert fires, or Alertmanager takes it for over.
    `--rules.alert.resend-delay=${Math.ceil(RESEND_MS / hastenedBy)}ms`,
    '--log.level=error',
  ];
  // It looks for its targets every five seconds; until then what is absent has no series.
  const hasLooked = async () => {
    const answer = await fetch(`${url}/api/v1/query?query=probe_success`);
    const { data } = (await answer.json()) as { data: { result: readonly unknown[] } };
    return data.result.length > 0;
  };
  started.use(await startProgram(path, args, hasLooked));
  const owned = started.move();
  return {
    async firing() {
      const { data } = (await (await fetch(`${url}/api/v1/alerts`)).json()) as AlertsAnswer;
      return data.alerts
        .filter(({ state }) => state === 'firing')
        .map(({ labels, annotations }) => ({
          name: labels.alertname ?? '',
          isPage: labels.severity === 'page',
          labels,
          summary: annotations.summary ?? '',
          runbook: annotations.runbook_url ?? '',
        }));
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export function readRules(): Promise<string> {
  return readFile(RULES, 'utf8');
}

/** The times by which a rule judges, as the file has them: its `for`, and the windows it looks at. */
export function timesOf(rules: string, alert: string): string {
  const [, text = ''] = rules.split(`- alert: ${alert}\n`);
  const [rule = ''] = text.split(/- (?:alert|record): |- name: /);
  const pending = /\bfor: (\w+)/.exec(rule)?.[1];
  const windows = [...rule.matchAll(/(?:\[|ratio_rate)(\d+[smhd])/g)].map(([, window]) => window);
  return [
    ...(pending === undefined ? [] : [`for ${pending}`]),
    ...[...new Set(windows)].map((window) => `over ${window}`),
  ].join(', ');
}

function configuration(
  targets: readonly string[],
  probe: string,
  alertmanager: string,
  everyMs: number,
): string {
  const interval = `${Math.round(everyMs)}ms`;
  return JSON.stringify({
    global: { scrape_interval: interval, evaluation_interval: interval, scrape_timeout: interval },
    rule_files: ['alerts.yml'],
    alerting: {
      alertmanagers: [{ static_configs: [{ targets: [new URL(alertmanager).host] }] }],
    },
    scrape_configs: [
      { job_name: 'trading-graph', static_configs: [{ targets }] },
      { job_name: 'trading-graph-front', static_configs: [{ targets: [probe] }] },
    ],
  });
}
