import { createServer } from 'node:net';
import { openConfiguredStores, problemsOf, settingProblem, usable } from '../app/usable.ts';
import type { SettingName } from '../config/settings.ts';
import { type Config, type Environment, parseEnvironment } from '../config.ts';
import { KEY_SET_TIMEOUT_MS } from '../domain/auth/key-set.ts';
import { readManifest } from '../engine/index.ts';
import { systemClock } from '../lib/clock.ts';
import { isObject } from '../lib/json.ts';
import { listen } from '../lib/listen.ts';
import { reasonOf } from '../lib/reason-of.ts';
import { unmeasuredDates } from '../store/dates.ts';
import type { StoreOptions } from '../store/open-stores.ts';
import type { SharedStore } from '../store/shared-store.ts';

export interface ConfigurationReport {
  /** One line for each problem, as a start prints them. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  readonly config: Config;
  readonly faulty: ReadonlySet<SettingName>;
}

const IN_USE = /^(ADMIN_)?PORT=.*\(listen EADDRINUSE/;

/** Finds everything that would prevent a start with this environment, or make it useless. Changes nothing. */
export async function checkConfiguration(environment: Environment): Promise<ConfigurationReport> {
  const { config, problems, faulty, warnings } = parseEnvironment(environment);
  let storeFault: string | null = null;
  const storeWarnings: string[] = [];
  const [unusable, keySetFault] = await Promise.all([
    findUnusable(config, faulty, {
      onOpen({ records }) {
        storeFault = records.status.degradedReason;
      },
      onWarn: (message) => storeWarnings.push(message),
    }),
    faulty.has('JWT_JWKS_URL') || config.jwtJwksUrl === null
      ? null
      : faultOfKeySet(config.jwtJwksUrl),
  ]);
  return {
    config,
    faulty,
    problems: [
      ...problems,
      // A port in use is only a warning: the service may be running already.
      ...unusable.filter((line) => !IN_USE.test(line)),
      ...unreachable(config, storeFault, keySetFault),
    ],
    warnings: [...warnings, ...storeWarnings, ...unusable.filter((line) => IN_USE.test(line))],
  };
}

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
  const dates = () => unmeasuredDates(systemClock.date());
  const opened = await openConfiguredStores(config, { onWarn, dates, isInspection: true });
  onOpen(opened);
  await opened.records.close();
}

/** Opens a listener and closes it, without serving a request. */
async function probeAddress(port: number, host: string): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  await listen(server, port, host);
  await new Promise((resolve) => server.close(resolve));
}

/** Reports a Redis or a key set that cannot be used. The service would start, but refuse orders or verify no token. */
function* unreachable(
  { redisUrl, jwtJwksUrl }: Config,
  storeFault: string | null,
  keySetFault: string | null,
): Generator<string> {
  if (redisUrl !== null && storeFault !== null) {
    yield settingProblem('REDIS_URL', redisUrl, storeFault);
  }
  if (jwtJwksUrl !== null && keySetFault !== null) {
    yield settingProblem('JWT_JWKS_URL', jwtJwksUrl, keySetFault);
  }
}

/** Fetches a key set like the service, which follows no redirect. Returns null if it has keys. */
async function faultOfKeySet(url: string): Promise<string | null> {
  try {
    const signal = AbortSignal.timeout(KEY_SET_TIMEOUT_MS);
    const response = await fetch(url, { redirect: 'manual', signal });
    const text = await response.text();
    if (response.status !== 200) return `it is answered with status ${response.status}`;
    return holdsKeys(text) ? null : 'the answer has no keys';
  } catch (error) {
    const { cause } = error as Error;
    return `it cannot be fetched: ${reasonOf(cause instanceof Error ? cause : error)}`;
  }
}

function holdsKeys(text: string): boolean {
  try {
    const set: unknown = JSON.parse(text);
    return isObject(set) && Array.isArray(set.keys) && set.keys.length > 0;
  } catch {
    return false;
  }
}
