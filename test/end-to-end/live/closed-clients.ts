import { afterEach } from 'vitest';
import type { LiveClient } from './watcher.ts';

/** Closes the registered clients after each test, because a client that connects to a closing server would fail. */
export function closedClients(): (client: LiveClient) => LiveClient {
  const clients: LiveClient[] = [];
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.dispose()));
  });
  return (client) => {
    clients.push(client);
    return client;
  };
}
