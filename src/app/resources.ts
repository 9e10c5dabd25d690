import { existsSync, statSync } from 'node:fs';
import type { SettingName } from '../config/settings.ts';
import { shown } from '../config/shown.ts';
import { type Config, ConfigError, DEFAULT_ORDER_FILES } from '../config.ts';
import {
  ManifestError,
  readManifest,
  TrustedDocuments,
  type TrustedDocumentsOptions,
} from '../engine/index.ts';
import { systemClock } from '../lib/clock.ts';
import { ListenError, probeAddress } from '../lib/listen.ts';
import { openStores, type StoreOptions } from '../store/open-stores.ts';
import type { SharedStore } from '../store/shared-store.ts';
import { StoreError } from '../store/store-error.ts';

const LISTENERS = {
  public: { port: 'PORT', host: 'HOST' },
  admin: { port: 'ADMIN_PORT', host: 'ADMIN_HOST' },
} as const;

// These conditions are only known by trying.
const USABLE = {
  PORT: 'a port that is free and open to this user',
  ADMIN_PORT: 'a port that is free and open to this user',
  HOST: 'an address of this machine, or the name of one',
  ADMIN_HOST: 'an address of this machine, or the name of one',
  REDIS_URL: 'a Redis that can be used',
  JWT_JWKS_URL: 'the address of a key set',
  ORDER_STORE: 'a file that this process can use, or the word `memory`',
  PERSISTED_DOCUMENTS: 'a manifest, or a folder of them',
} as const satisfies Partial<Record<SettingName, string>>;

/** Passes on an error of this kind as the problems of the configuration that it means; any other is a bug. */
function asProblems<E extends Error>(
  kind: abstract new (...args: never[]) => E,
  problemsOf: (error: E) => readonly string[],
) {
  return (error: unknown): never => {
    throw error instanceof kind ? new ConfigError(problemsOf(error)) : error;
  };
}

/** The stores that the configuration names; throws a ConfigError where they cannot be used. */
export function openConfiguredStores(
  config: Config,
  observer: Pick<StoreOptions, 'onWarn' | 'isInspection' | 'gatewaySkewMs'>,
): Promise<SharedStore> {
  const { redisUrl, orderStore } = config;
  return openStores({
    ...observer,
    accounts: JSON.stringify([config.gatewayLoginClaim, ...config.gatewayForwardHeaders]),
    redisUrl,
    orderStore,
    clock: systemClock,
    makesFolder: DEFAULT_ORDER_FILES.includes(orderStore),
    prefix: config.redisPrefix,
    requiresAppendonly: config.requiresAppendonly,
    redisReplicas: config.redisReplicas,
    max: config.orderRecordsMax,
    maxPerAccount: config.orderRecordsPerAccount,
  }).catch(
    asProblems(StoreError, ({ message }) => [
      redisUrl === null
        ? settingProblem('ORDER_STORE', orderStore, message)
        : settingProblem('REDIS_URL', redisUrl, message),
    ]),
  );
}

/** Null where no documents are trusted; throws a ConfigError where the manifests cannot be used. */
export async function openConfiguredDocuments(
  { persistedDocuments: path }: Config,
  options: Omit<TrustedDocumentsOptions, 'path' | 'clock'>,
): Promise<TrustedDocuments | null> {
  if (path === null) return null;
  return TrustedDocuments.open({ ...options, path, clock: systemClock }).catch(
    manifestProblems(path),
  );
}

function manifestProblems(path: string) {
  return asProblems(ManifestError, ({ reasons }) =>
    reasons.map((reason) => settingProblem('PERSISTED_DOCUMENTS', path, reason)),
  );
}

/** Like Promise.all, but waits for all: one ConfigError lists their problems, unless any fails otherwise, by a bug. */
async function openAll<const T extends readonly Promise<unknown>[]>(opening: T) {
  const settled = await Promise.allSettled(opening);
  const errors = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  const problems = errors.flatMap((error) => {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return Promise.all(opening);
}

/** Runs `listen` for the public or for the admin listener; throws a ConfigError where its address cannot be used. */
export function atAddress<T>(
  config: Config,
  listener: 'public' | 'admin',
  listen: (port: number, host: string) => Promise<T>,
): Promise<T> {
  const names = LISTENERS[listener];
  const [port, host] =
    listener === 'public' ? [config.port, config.host] : [config.adminPort, config.adminHost];
  return listen(port, host).catch(
    asProblems(ListenError, ({ about, message }) => [
      settingProblem(names[about], about === 'port' ? port : host, message),
    ]),
  );
}

/**
 * Tries what the configuration names, as a start would, and leaves it unchanged. Settings that already have a problem
 * are skipped. `stores` sees the open stores and their warnings; without it a file that takes long to verify is not
 * tried.
 */
export async function findUnusable(
  config: Config,
  faulty: ReadonlySet<string>,
  stores?: Pick<StoreOptions, 'onWarn'> & { readonly onOpen: (stores: SharedStore) => void },
): Promise<readonly string[]> {
  const isMeant = (...names: SettingName[]) => !names.some((name) => faulty.has(name));
  const attempts: Promise<unknown>[] = [];
  const isTried = stores !== undefined || !isLongToVerify(config);
  if (isTried && isMeant('REDIS_URL', 'REDIS_PREFIX', 'ORDER_STORE')) {
    attempts.push(
      openConfiguredStores(config, {
        onWarn: stores?.onWarn ?? (() => {}),
        isInspection: true,
      }).then((opened) => {
        stores?.onOpen(opened);
        return opened.close();
      }),
    );
  }
  const { persistedDocuments: path } = config;
  if (path !== null && isMeant('PERSISTED_DOCUMENTS')) {
    attempts.push(readManifest(path).catch(manifestProblems(path)));
  }
  for (const listener of ['public', 'admin'] as const) {
    const { port, host } = LISTENERS[listener];
    if (!isMeant(host)) continue;
    // Port 0 tries the host alone.
    attempts.push(
      atAddress(config, listener, (value, at) => probeAddress(isMeant(port) ? value : 0, at)),
    );
  }
  try {
    await openAll(attempts);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

// A smaller file is verified within a second.
const MAX_BYTES_TRIED = 16 * 1024 ** 2;

function isLongToVerify({ redisUrl, orderStore: path }: Config): boolean {
  return redisUrl === null && existsSync(path) && statSync(path).size > MAX_BYTES_TRIED;
}

/** The line for a valid value that cannot be used in this environment. */
export function settingProblem(
  name: keyof typeof USABLE,
  value: string | number,
  reason: string,
): string {
  const quoted = typeof value === 'number' ? value : shown(value);
  return `${name}=${quoted}: must be ${USABLE[name]} (${reason})`;
}
