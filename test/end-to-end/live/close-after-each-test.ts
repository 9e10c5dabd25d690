import { afterEach } from 'vitest';
import type { LiveClient } from './watcher.ts';

/** Returns a function that registers a client. Each is closed after its test, because it would fail when the server closes. */
export function closeAfterEachTest(): (client: LiveClient) => LiveClient {
  const clients: LiveClient[] = [];
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.dispose()));
  });
  return (client) => {
    clients.push(client);
    return client;
  };
}
