import { afterEach } from 'vitest';
import type { LiveClient } from './watcher.ts';

/** Takes note of clients, which are closed behind each test: one that connects while its server closes would fail. */
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
