import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { freePort } from '../../support/free-ports.ts';
import { listenLocally } from '../../support/local-server.ts';
import { temporaryFolder } from '../../support/own-folder.ts';
import { startProgram } from '../../support/started-program.ts';

interface Message {
  readonly alerts: readonly {
    readonly status: string;
    readonly labels: Readonly<Record<string, string>>;
  }[];
}

const ROUTES = new URL('../../../deploy/prometheus/alertmanager.yml', import.meta.url);
const RECEIVERS = 'http://127.0.0.1:9099/';
const SECONDS = { s: 1, m: 60, h: 3_600 } as const;
const WAIT = /(\b(?:group_wait|group_interval|repeat_interval): )(\d+)([smh])/g;

/** Starts an Alertmanager with the shipped routes, whose waits are divided by `speedUp`. Records its alerts. */
export async function startAlertmanager(path: string, speedUp: number) {
  const pages = new Set<string>();
  const tickets = new Set<string>();
  const receiver = createServer(async (request, response) => {
    const { alerts } = (await json(request)) as Message;
    for (const { status, labels } of alerts) {
      if (status !== 'firing') continue;
      (request.url === '/page' ? pages : tickets).add(labels.alertname ?? '');
    }
    response.end();
  });
  await using started = new AsyncDisposableStack();
  const listener = started.use(await listenLocally(receiver));
  const folder = started.use(await temporaryFolder());
  const routes = shortened(await readFile(ROUTES, 'utf8'), speedUp);
  await writeFile(
    join(folder.path, 'config.yml'),
    routes.replaceAll(RECEIVERS, `${listener.url}/`),
  );
  const address = `127.0.0.1:${await freePort()}`;
  const url = `http://${address}`;
  const args = [
    '--config.file=config.yml',
    `--web.listen-address=${address}`,
    '--log.level=error',
    '--storage.path=data',
    '--cluster.listen-address=',
  ];
  const isReady = async () => (await fetch(`${url}/-/ready`)).ok;
  started.use(await startProgram(path, args, isReady, { cwd: folder.path }));
  const owned = started.move();
  return { url, pages, tickets, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function shortened(routes: string, speedUp: number): string {
  return routes.replace(WAIT, (_whole, name, count, unit) => {
    const seconds = Number(count) * SECONDS[unit as keyof typeof SECONDS];
    return `${name}${Math.round((seconds * 1_000) / speedUp)}ms`;
  });
}
