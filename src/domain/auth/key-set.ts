import type { JWTVerifyGetKey } from 'jose';
import { ByteCollector } from '../../lib/byte-collector.ts';
import { growingLru } from '../../lib/caches.ts';
import type { Clock } from '../../lib/clock.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { Log } from '../../lib/log.ts';
import { reasonOf } from '../../lib/reason-of.ts';
import { UnauthenticatedError, UnknownKeyError } from './token-errors.ts';

type Jose = typeof import('jose');

interface KeySetOptions {
  readonly jose: Jose;
  readonly url: string;
  readonly clock: Clock;
  readonly log?: Pick<Log, 'warn' | 'info'> | undefined;
}

export const KEY_SET_TIMEOUT_MS = 2_000;
/** The pause between two readings: for an unknown key, and after a failure. */
const LOOK_UP_MS = 10_000;
const REFRESH_MS = 600_000;
/** A set of a hundred keys with their certificates has a quarter of this size. */
const MAX_BYTES = 1_048_576;
const MAX_ASKED = 1_000;
const MAX_ID_LENGTH = 256;

/** No key set has been read since the start. */
export class NoKeySetError extends Error {}

/**
 * The key set of an address, which is read in the background. A token whose key it lacks is refused once the set has been
 * read after that key was first asked for: a new key may be younger than the set.
 */
export class KeySet implements Disposable {
  readonly #options: KeySetOptions;
  #keys: ReturnType<Jose['createLocalJWKSet']> | null = null;
  /** The number of the latest reading, and of the one that brought the present keys. */
  #latest = 0;
  #present = 0;
  #startedAtMs = 0;
  #reading: Promise<void>;
  #failure: string | null = null;
  /** For each missing key the number of the latest reading when it was first asked for. */
  readonly #asked = growingLru<string, number>({ maxEntries: MAX_ASKED, entryBytes: 400 });
  #cancelNext = () => {};
  #isClosed = false;

  constructor(options: KeySetOptions) {
    this.#options = options;
    this.#reading = this.#read();
  }

  /** Throws a NoKeySetError, an UnknownKeyError, or an UnauthenticatedError. */
  readonly keyOf: JWTVerifyGetKey = async (header, token) => {
    const find = async () => {
      try {
        return (await this.#keys?.(header, token)) ?? null;
      } catch (error) {
        if (error instanceof this.#options.jose.errors.JWKSNoMatchingKey) return null;
        throw error;
      }
    };
    if (this.#keys === null) await this.#reading;
    if (this.#keys === null) throw new NoKeySetError();
    return (await find()) ?? (await this.#lookUp(`${header.alg} ${header.kid}`, find));
  };

  /** Why the set cannot be read now; null if it can. */
  degradedReason(): string | null {
    if (this.#failure === null) return null;
    const meanwhile =
      this.#keys === null
        ? 'tokens count as unverified'
        : 'the keys that were read last still count';
    return `the key set cannot be read (${this.#failure}): ${meanwhile}`;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#cancelNext();
  }

  async #lookUp<Key>(name: string, find: () => Promise<Key | null>): Promise<Key> {
    const id = name.slice(0, MAX_ID_LENGTH);
    const askedIn = this.#asked.get(id) ?? this.#latest;
    this.#asked.set(id, askedIn);
    const nextInMs = () => this.#startedAtMs + LOOK_UP_MS - this.#options.clock.now();
    if (nextInMs() <= 0) this.#reading = this.#read();
    await this.#reading;
    const found = await find();
    if (found !== null) return found;
    if (this.#present > askedIn) throw new UnauthenticatedError('the token was refused', 'key');
    throw new UnknownKeyError(Math.max(1, Math.ceil(nextInMs() / 1000)));
  }

  /** Never rejects. */
  async #read(): Promise<void> {
    const { clock, jose, log, url } = this.#options;
    const number = ++this.#latest;
    this.#startedAtMs = clock.now();
    this.#cancelNext();
    try {
      this.#keys = jose.createLocalJWKSet(await fetched(url));
      this.#present = number;
      if (this.#failure !== null) log?.info({}, 'the key set is read again');
      this.#failure = null;
    } catch (error) {
      const reason = causeOf(error);
      // Logged once, because the reading is repeated every few seconds.
      if (this.#failure === null) log?.warn({ reason }, 'the key set cannot be read');
      this.#failure = reason;
    }
    this.#readLater(this.#failure === null ? REFRESH_MS : LOOK_UP_MS);
  }

  #readLater(ms: number): void {
    if (this.#isClosed) return;
    this.#cancelNext = this.#options.clock.after(ms, () => {
      this.#reading = this.#read();
      fireAndForget('key set', this.#reading);
    });
  }
}

async function fetched(url: string) {
  const signal = AbortSignal.timeout(KEY_SET_TIMEOUT_MS);
  const headers = { accept: 'application/json, application/jwk-set+json' };
  const { status, body } = await fetch(url, { redirect: 'manual', headers, signal });
  if (status !== 200 || body === null) {
    await body?.cancel();
    throw new Error(`status ${status}`);
  }
  const collector = new ByteCollector(MAX_BYTES);
  for await (const chunk of body) {
    // Leaving the loop cancels the body, which closes the connection.
    if (!collector.add(Buffer.from(chunk))) throw new Error('the answer is too large');
  }
  return JSON.parse(collector.take().toString());
}

/** The message of an error of `fetch` is generic. The reason is in the error's cause. */
function causeOf(error: unknown): string {
  return reasonOf(error instanceof Error ? (error.cause ?? error) : error);
}
