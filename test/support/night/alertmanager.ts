import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { freePort } from '../free-ports.ts';
import { listenLocally } from '../local-server.ts';
import { startProgram } from '../started-program.ts';
import { dividedTimes } from './divided-times.ts';

export interface Alertmanager extends AsyncDisposable {
  readonly url: string;
  /** The alerts of the messages that woke somebody, in the order in which they came, each once. */
  readonly pages: ReadonlySet<string>;
  /** Those of the messages that can wait. */
  readonly tickets: ReadonlySet<string>;
  /** The time in which an alert that is a page, and that no other one inhibits, has been sent, with some to spare. */
  readonly pageWithinMs: number;
}

interface Message {
  readonly alerts: readonly { readonly status: string; readonly labels: { alertname: string } }[];
}

const ROUTES = new URL('../../../deploy/prometheus/alertmanager.yml', import.meta.url);
const RECEIVERS = 'http://127.0.0.1:9099/';
/** A group waits, and looks again at what was inhibited: both of a page. */
const PAGE_WITHIN_MS = 90_000;
const LEAST_MS = 2_000;

/** An Alertmanager with the routes of `deploy/prometheus`, whose messages are kept. */
export async function startAlertmanager(path: string, hastenedBy: number): Promise<Alertmanager> {
  const sent = { page: new Set<string>(), ticket: new Set<string>() };
  const receiver = createServer(async (request, response) => {
    const { alerts } = (await json(request)) as Message;
    const kind = request.url === '/page' ? 'page' : 'ticket';
    for (const { status, labels } of alerts) {
      if (status === 'firing') sent[kind].add(labels.alertname);
    }
    response.end();
  });
  await using started = new AsyncDisposableStack();
  const listener = started.use(await listenLocally(receiver));
  const folder = started.use(
    await mkdtempDisposable(join(tmpdir(), 'trading-graph-alertmanager-')),
  );
  const config = join(folder.path, 'alertmanager.yml');
  const routes = dividedTimes(await readFile(ROUTES, 'utf8'), hastenedBy);
  await writeFile(config, routes.replaceAll(RECEIVERS, `${listener.url}/`));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = [
    `--config.file=${config}`,
    `--storage.path=${join(folder.path, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--cluster.listen-address=',
    '--log.level=error',
  ];
  started.use(await startProgram(path, args, async () => (await fetch(`${url}/-/ready`)).ok));
  const owned = started.move();
  return {
    url,
    pages: sent.page,
    tickets: sent.ticket,
    pageWithinMs: LEAST_MS + PAGE_WITHIN_MS / hastenedBy,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
