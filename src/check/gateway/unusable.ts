import { createServer } from 'node:net';
import { openConfiguredStores, problemsOf, usable } from '../../app/usable.ts';
import type { SettingName } from '../../config/settings.ts';
import type { Config } from '../../config.ts';
import { readManifest } from '../../engine/index.ts';
import { listen } from '../../lib/listen.ts';
import type { StoreOptions } from '../../store/open-stores.ts';
import type { SharedStore } from '../../store/shared-store.ts';

interface StoreObserver extends Pick<StoreOptions, 'onWarn'> {
  readonly onOpen: (stores: SharedStore) => void;
}

/**
 * Tries the stores, manifests and addresses of the configuration like a start, and changes nothing. Skips settings that
 * already have a problem. `observer` receives the open stores and their warnings.
 */
export async function findUnusable(
  config: Config,
  faulty: ReadonlySet<SettingName>,
  observer: StoreObserver,
): Promise<readonly string[]> {
  const isFit = (...names: SettingName[]) => !names.some((name) => faulty.has(name));
  const { adminHost, adminPort, host, persistedDocuments: path, port } = config;
  const attempts: Promise<unknown>[] = [];
  if (isFit('REDIS_URL', 'REDIS_PREFIX', 'ORDER_STORE')) {
    attempts.push(tryStores(config, observer));
  }
  if (path !== null && isFit('PERSISTED_DOCUMENTS')) {
    attempts.push(usable(readManifest(path), ['PERSISTED_DOCUMENTS', path]));
  }
  if (isFit('PORT', 'HOST')) {
    attempts.push(usable(probeAddress(port, host), ['PORT', port], ['HOST', host]));
  }
  if (isFit('ADMIN_PORT', 'ADMIN_HOST')) {
    const probe = probeAddress(adminPort, adminHost);
    attempts.push(usable(probe, ['ADMIN_PORT', adminPort], ['ADMIN_HOST', adminHost]));
  }
  return (await Promise.allSettled(attempts)).flatMap(problemsOf);
}

async function tryStores(config: Config, { onOpen, onWarn }: StoreObserver): Promise<void> {
  const opened = await openConfiguredStores(config, { onWarn, isInspection: true });
  onOpen(opened);
  await opened.records.close();
}

/** Opens a listener and closes it, without serving a request. */
async function probeAddress(port: number, host: string): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  await listen(server, port, host);
  await new Promise((resolve) => server.close(resolve));
}
