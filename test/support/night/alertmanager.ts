import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { hastened } from './hastened.ts';
import { startServer } from './server.ts';

export interface Alertmanager extends AsyncDisposable {
  readonly url: string;
  /** The alerts of the messages that woke somebody, in the order in which they came, each once. */
  readonly pages: ReadonlySet<string>;
  /** Those of the messages that can wait. */
  readonly tickets: ReadonlySet<string>;
}

interface Message {
  readonly alerts: readonly { readonly status: string; readonly labels: { alertname: string } }[];
}

const RECEIVERS = 'http://127.0.0.1:9099/';

/** An Alertmanager with the routes of `deploy/prometheus`, whose messages are kept. */
export async function startAlertmanager(path: string): Promise<Alertmanager> {
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
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  started.defer(() => {
    receiver.closeAllConnections();
    receiver.close();
  });
  const { port } = receiver.address() as AddressInfo;
  const routes = await hastened('alertmanager.yml');
  const files = { 'routes.yml': routes.replaceAll(RECEIVERS, `http://127.0.0.1:${port}/`) };
  const { url } = started.use(
    await startServer(path, files, (folder) => [
      `--config.file=${join(folder, 'routes.yml')}`,
      `--storage.path=${join(folder, 'data')}`,
      '--cluster.listen-address=',
    ]),
  );
  const owned = started.move();
  return {
    ...{ url, pages: sent.page, tickets: sent.ticket },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
