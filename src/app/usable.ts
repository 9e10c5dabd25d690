import { shown } from '../config/given-value.ts';
import { type Config, ConfigError, DEFAULT_ORDER_FILES } from '../config.ts';
import { ManifestError, TrustedDocuments, type TrustedDocumentsOptions } from '../engine/index.ts';
import { systemClock } from '../lib/clock.ts';
import { ListenError } from '../lib/listen.ts';
import { openStores, type StoreOptions } from '../store/open-stores.ts';
import type { SharedStore } from '../store/shared-store.ts';
import { StoreError } from '../store/store-error.ts';

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
} as const;

type Given = readonly [name: keyof typeof USABLE, value: string | number];
type StoreObserver = Pick<StoreOptions, 'onWarn' | 'isInspection' | 'dates'>;
type DocumentOptions = Pick<TrustedDocumentsOptions, 'documents' | 'log'>;

/** Opens the manifests and the stores at the same time. Throws one ConfigError with every problem. */
export async function openFiles(
  config: Config,
  opened: AsyncDisposableStack,
  documentOptions: DocumentOptions,
  storeObserver: StoreObserver,
) {
  const { persistedDocuments: path, persistedDocumentsOnly: trustedOnly } = config;
  const options = { ...documentOptions, path, trustedOnly, clock: systemClock };
  const [trusted, stores] = await Promise.allSettled([
    usable(TrustedDocuments.open(options), ['PERSISTED_DOCUMENTS', path ?? '']),
    openConfiguredStores(config, storeObserver),
  ]);
  if (trusted.status === 'fulfilled') opened.defer(() => trusted.value.close());
  if (stores.status === 'fulfilled') opened.defer(() => stores.value.records.close());
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

export function openConfiguredStores(
  config: Config,
  observer: StoreObserver,
): Promise<SharedStore> {
  const { redisUrl, orderStore } = config;
  const stores = openStores({
    ...observer,
    accounts: JSON.stringify([config.gatewayLoginClaim, ...config.gatewayForwardHeaders]),
    redisUrl,
    orderStore,
    clock: systemClock,
    makesFolder: DEFAULT_ORDER_FILES.includes(orderStore),
    // A test may place an order at once.
    takesOldKeys: config.takesOldKeys,
    prefix: config.redisPrefix,
    requiresAppendonly: config.requiresAppendonly,
    redisReplicas: config.redisReplicas,
    max: config.orderRecordsMax,
    maxPerAccount: config.orderRecordsPerAccount,
  });
  return usable(stores, redisUrl === null ? ['ORDER_STORE', orderStore] : ['REDIS_URL', redisUrl]);
}

/** Waits for an attempt. If it fails, throws a ConfigError about the setting, or about `host` if the host is at fault. */
export async function usable<T>(
  attempt: Promise<T>,
  setting: Given,
  host: Given = setting,
): Promise<T> {
  try {
    return await attempt;
  } catch (error) {
    const isListener = error instanceof ListenError;
    const isOfSetting = isListener || error instanceof StoreError || error instanceof ManifestError;
    if (!isOfSetting) throw error;
    const reasons = error instanceof ManifestError ? error.reasons : [error.message];
    const [name, value] = isListener && error.about === 'host' ? host : setting;
    const problems = reasons.map((reason) => settingProblem(name, value, reason));
    throw new ConfigError(problems, { cause: error });
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
