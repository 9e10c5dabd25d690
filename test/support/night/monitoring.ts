import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { freePort } from '../free-ports.ts';
import { listenLocally } from '../local-server.ts';
import { temporaryFolder } from '../own-folder.ts';
import { startProgram } from '../started-program.ts';

export interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

export interface Watched {
  /** The hosts and ports of the replicas. */
  readonly targets: readonly string[];
  /** The address by which clients come. */
  readonly front: string;
  /** The address of an Alertmanager. */
  readonly alertmanager: string;
}

const SCRAPE_MS = 15_000;
const RESEND_MS = 60_000;
const PROBE_MS = 2_000;
const RECEIVERS = 'http://127.0.0.1:9099/';
/** A group waits, and looks again at what was inhibited: both of a page. */
const PAGE_WITHIN_MS = 90_000;
const MIN_MS = 2_000;
const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;
const TIME = /(\b(?:for|group_wait|group_interval|repeat_interval): |\[)(\d+)([smhd])/g;

/** A Prometheus with the rules of `deploy/prometheus`; times are divided, and that of the scrape, so that a window has as many samples as in reality. */
export async function startPrometheus(path: string, watched: Watched, hastenedBy: number) {
  await using started = new AsyncDisposableStack();
  const probe = started.use(await startProbe(watched.front));
  const interval = `${Math.round(SCRAPE_MS / hastenedBy)}ms`;
  const scraped = (job_name: string, targets: readonly string[]) => ({
    job_name,
    static_configs: [{ targets }],
  });
  const config = {
    global: { scrape_interval: interval, evaluation_interval: interval, scrape_timeout: interval },
    rule_files: ['alerts.yml'],
    alerting: {
      alertmanagers: [{ static_configs: [{ targets: [new URL(watched.alertmanager).host] }] }],
    },
    scrape_configs: [
      scraped('trading-graph', watched.targets),
      scraped('trading-graph-front', [`127.0.0.1:${probe.port}`]),
    ],
  };
  const files = {
    'config.yml': JSON.stringify(config),
    'alerts.yml': divided(await readRules(), hastenedBy),
  };
  // It says again and again that an alert fires, or Alertmanager takes it for over.
  const resend = `--rules.alert.resend-delay=${Math.ceil(RESEND_MS / hastenedBy)}ms`;
  // Debian's packages keep what all of their processes store in one folder.
  const args = ['--storage.tsdb.path=data', resend];
  // It looks for its targets every five seconds; until then what is absent has no series.
  const hasLooked = async (url: string) => {
    const answer = await fetch(`${url}/api/v1/query?query=probe_success`);
    return (
      ((await answer.json()) as { data: { result: readonly unknown[] } }).data.result.length > 0
    );
  };
  const program = started.use(await startMonitor(path, files, args, hasLooked));
  const owned = started.move();
  return {
    /** Those that reach somebody. */
    async firing(): Promise<readonly Alert[]> {
      const answer = await fetch(`${program.url}/api/v1/alerts`);
      const { data } = (await answer.json()) as { data: { alerts: (Alert & { state: string })[] } };
      return data.alerts.filter(
        ({ state, labels }) => state === 'firing' && labels.severity !== 'none',
      );
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** An Alertmanager with the routes of `deploy/prometheus`: the alerts of its messages are kept, each once. */
export async function startAlertmanager(path: string, hastenedBy: number) {
  const pages = new Set<string>();
  const tickets = new Set<string>();
  const receiver = createServer(async (request, response) => {
    const { alerts } = (await json(request)) as { alerts: (Alert & { status: string })[] };
    for (const { status, labels } of alerts) {
      if (status !== 'firing') continue;
      (request.url === '/page' ? pages : tickets).add(labels.alertname ?? '');
    }
    response.end();
  });
  await using started = new AsyncDisposableStack();
  const listener = started.use(await listenLocally(receiver));
  const routes = divided(await readShipped('alertmanager.yml'), hastenedBy);
  const files = { 'config.yml': routes.replaceAll(RECEIVERS, `${listener.url}/`) };
  const isReady = async (url: string) => (await fetch(`${url}/-/ready`)).ok;
  const args = ['--storage.path=data', '--cluster.listen-address='];
  const program = await startMonitor(path, files, args, isReady);
  const { url } = started.use(program);
  const owned = started.move();
  return {
    url,
    pages,
    tickets,
    /** The time in which an alert that is a page, and that no other one inhibits, has been sent, with some to spare. */
    pageWithinMs: MIN_MS + PAGE_WITHIN_MS / hastenedBy,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export function readRules(): Promise<string> {
  return readShipped('alerts.yml');
}

/** The times by which a rule judges, as the file has them: its `for`, and the windows it looks at. */
export function timesOf(rules: string, alert: string): string {
  const [, text = ''] = rules.split(`- alert: ${alert}\n`);
  const [rule = ''] = text.split(/- (?:alert|record): |- name: /);
  const pending = /\bfor: \w+/.exec(rule) ?? [];
  const windows = [...rule.matchAll(/(?:\[|ratio_rate)(\d+[smhd])/g)];
  const times = [...pending, ...windows.map(([, window]) => `over ${window}`)];
  return [...new Set(times)].join(', ').replace('for: ', 'for ');
}

/** Says at each scrape whether the front door opened when it was last asked: in place of blackbox_exporter. */
async function startProbe(front: string) {
  let isOpen = true;
  const server = createServer(async (_request, response) => {
    // At once: a busy machine must not make the scrape itself too late, which would count as a closed door.
    response.end(`probe_success ${isOpen ? 1 : 0}\n`);
    const signal = AbortSignal.timeout(PROBE_MS);
    const answer = await fetch(`${front}/health/ready`, { signal }).catch(() => null);
    isOpen = answer?.ok ?? false;
  });
  return listenLocally(server);
}

/** A program of Prometheus' makers, in a folder of its own with these files. */
async function startMonitor(
  path: string,
  files: Readonly<Record<string, string>>,
  args: readonly string[],
  isReady: (url: string) => Promise<boolean>,
) {
  await using started = new AsyncDisposableStack();
  const folder = started.use(await temporaryFolder());
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text);
  const address = `127.0.0.1:${await freePort()}`;
  const url = `http://${address}`;
  const all = [
    ...['--config.file=config.yml', `--web.listen-address=${address}`, '--log.level=error'],
    ...args,
  ];
  started.use(await startProgram(path, all, () => isReady(url), { cwd: folder.path }));
  const owned = started.move();
  return { url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Rules or routes with every time and every window of an expression shorter; all else stays as it is. */
function divided(text: string, by: number): string {
  return text.replace(TIME, (_whole, before, count, unit) => {
    const seconds = Number(count) * SECONDS[unit as keyof typeof SECONDS];
    return `${before}${Math.round((seconds * 1_000) / by)}ms`;
  });
}

function readShipped(name: string): Promise<string> {
  return readFile(new URL(`../../../deploy/prometheus/${name}`, import.meta.url), 'utf8');
}
