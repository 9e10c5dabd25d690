import { afterEach } from 'vitest';
import type { LiveClient } from './watcher.ts';

/** Returns a function that registers a client to be closed after its test: a client would fail when the server closes. */
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
