import type { Core } from './core.ts';
import type { KeptState, OfflineAccount } from './live/live-source.ts';

/** The options of `offlineAccount()`. */
export interface OfflineAccountOptions {
  /** An AES-GCM key of Web Crypto (a `CryptoKey`) that the app keeps on this device. */
  readonly key: { readonly algorithm: { readonly name: string } };
  /** The login whose session the app holds, null for none: its state is shown before the server has named it. */
  readonly login: string | null;
}

const ENTRY = 'trading-graph:account';
/** Writing more often would cost more battery than a newer state is worth. */
const KEEP_AFTER_MS = 5_000;
const IV_BYTES = 12;

/** Keeps the account's last state in the client's storage, encrypted, so that an app that starts offline shows it. */
export function offlineAccount(options: OfflineAccountOptions): OfflineAccount {
  const { key, login } = options;
  if (Object(key).algorithm?.name !== 'AES-GCM')
    throw new TypeError('`key` of `offlineAccount` is an AES-GCM key of Web Crypto');
  // A compiler without the types of DOM knows no name for it.
  return (core, document) => keptState(core, key as CryptoKey, login, document);
}

/** Keeps one state of one login. Where anything fails, there is nothing to show. */
function keptState<State extends object>(
  core: Core,
  key: CryptoKey,
  expected: string | null,
  document: string,
): KeptState<State> {
  const { environment, storage } = core;
  /** One step after the other, so that nothing is written behind a deletion. */
  let steps: Promise<unknown> = Promise.resolve();
  let latest: State | null = null;
  let forgotten = 0;
  let cancel: (() => void) | null = null;

  core.expectLogin(expected);
  core.onDispose(stop);

  function stop(): void {
    cancel?.();
    cancel = null;
  }

  function run(step: () => Promise<unknown> | undefined): void {
    steps = steps.then(step).catch(() => {});
  }

  /** The login and the document are authenticated with the state, so that it is nobody else's and has the chosen fields. */
  function cipher(login: string | null, iv: Uint8Array<ArrayBuffer>): AesGcmParams {
    return { name: 'AES-GCM', iv, additionalData: bytesOf(ascii([login, document])) };
  }

  function forget(): void {
    forgotten += 1;
    stop();
    run(() => storage?.delete(ENTRY));
  }

  async function keepLatest(): Promise<void> {
    stop();
    const text = ascii(latest);
    const before = forgotten;
    // A line may have a newer token, of which nobody knows yet whose it is. If another's, `core.login` is still the former one.
    const login = await core.account().catch(() => null);
    if (login === null || login !== core.login || forgotten !== before) return;
    run(async () => {
      const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
      const data = await crypto.subtle.encrypt(cipher(login, iv), key, bytesOf(text));
      await storage?.set(ENTRY, btoa(textOf(iv) + textOf(data)));
    });
  }

  return {
    async read(show) {
      let state: State;
      try {
        const bytes = bytesOf(atob((await storage?.get(ENTRY)) ?? ''));
        const opened = cipher(expected, bytes.slice(0, IV_BYTES));
        const text = textOf(await crypto.subtle.decrypt(opened, key, bytes.slice(IV_BYTES)));
        state = JSON.parse(text, (name, value) =>
          /asOf$/i.test(name) && value !== null ? new Date(value) : value,
        );
      } catch {
        return forget();
      }
      // Somebody else may have signed in meanwhile, or nobody.
      if (forgotten === 0) show({ ...state, isStale: true });
    },
    keep(state) {
      latest = state;
      cancel ??= environment.after(KEEP_AFTER_MS, keepLatest);
    },
    forget,
  };
}

/** JSON without characters beyond ASCII, because React Native has no TextDecoder before 0.85. */
function ascii(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\x80-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (unit) => unit.charCodeAt(0));
}

function textOf(bytes: ArrayBuffer | Uint8Array): string {
  return Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join('');
}
