import type { SettingName } from '../config/settings.ts';
import { shown } from '../config/shown.ts';
import { type Config, ConfigError, DEFAULT_ORDER_FILES } from '../config.ts';
import { ManifestError, TrustedDocuments, type TrustedDocumentsOptions } from '../engine/index.ts';
import { systemClock } from '../lib/clock.ts';
import { ListenError } from '../lib/listen.ts';
import { openStores, type StoreOptions } from '../store/open-stores.ts';
import type { SharedStore } from '../store/shared-store.ts';
import { StoreError } from '../store/store-error.ts';

export const LISTENERS = {
  public: { port: 'PORT', host: 'HOST' },
  admin: { port: 'ADMIN_PORT', host: 'ADMIN_HOST' },
} as const;

// Only an attempt shows whether these conditions are met.
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

type StoreObserver = Pick<StoreOptions, 'onWarn' | 'isInspection' | 'gatewaySkewMs'>;
type DocumentOptions = Pick<TrustedDocumentsOptions, 'documents' | 'log'>;

/** Opens the manifests and the stores at the same time. Throws one ConfigError with every problem. */
export async function openFiles(
  config: Config,
  opened: AsyncDisposableStack,
  ofDocuments: DocumentOptions,
  ofStores: StoreObserver,
) {
  const [trusted, stores] = await Promise.allSettled([
    openDocuments(config, ofDocuments),
    openConfiguredStores(config, ofStores),
  ]);
  if (trusted.status === 'fulfilled') opened.defer(() => trusted.value.close());
  if (stores.status === 'fulfilled') opened.defer(() => stores.value.close());
  const problems = [...problemsOf(trusted), ...problemsOf(stores)];
  if (trusted.status === 'rejected' || stores.status === 'rejected') {
    throw new ConfigError(problems);
  }
  return { trusted: trusted.value, stores: stores.value };
}

/** The problems of an attempt that ended in a ConfigError; throws any other error. */
export function problemsOf(attempt: PromiseSettledResult<unknown>): readonly string[] {
  if (attempt.status === 'fulfilled') return [];
  if (attempt.reason instanceof ConfigError) return attempt.reason.problems;
  throw attempt.reason;
}

/** The stores that the configuration names; throws a ConfigError if they cannot be used. */
export async function openConfiguredStores(
  config: Config,
  observer: StoreObserver,
): Promise<SharedStore> {
  const { redisUrl, orderStore } = config;
  try {
    return await openStores({
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
    });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const [name, value] =
      redisUrl === null
        ? (['ORDER_STORE', orderStore] as const)
        : (['REDIS_URL', redisUrl] as const);
    throw new ConfigError([settingProblem(name, value, error.message)]);
  }
}

/** Throws a ConfigError if the manifests cannot be used. */
async function openDocuments(
  { persistedDocuments: path, persistedDocumentsOnly: trustedOnly }: Config,
  options: DocumentOptions,
): Promise<TrustedDocuments> {
  const open = () => TrustedDocuments.open({ ...options, path, trustedOnly, clock: systemClock });
  return path === null ? open() : withManifest(path, open);
}

/** Runs `read`; throws a ConfigError if it finds manifests that cannot be used. */
export async function withManifest<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    throw new ConfigError(
      error.reasons.map((reason) => settingProblem('PERSISTED_DOCUMENTS', path, reason)),
    );
  }
}

/** Runs `listen` for the public or the admin listener; throws a ConfigError if its address cannot be used. */
export async function atAddress<T>(
  config: Config,
  listener: keyof typeof LISTENERS,
  listen: (port: number, host: string) => Promise<T>,
): Promise<T> {
  const values =
    listener === 'public'
      ? { port: config.port, host: config.host }
      : { port: config.adminPort, host: config.adminHost };
  try {
    return await listen(values.port, values.host);
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    const { about, message } = error;
    const problem = settingProblem(LISTENERS[listener][about], values[about], message);
    throw new ConfigError([problem], { cause: error });
  }
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
