import type { Environment } from '../environment.ts';
import { withinTime } from '../request/deadline.ts';
import type { ClientStorage } from '../storage.ts';

const KEY = 'trading-graph:line';
const HINT_KEY = 'trading-graph:route';
const HINT = /^[\da-f]{4}$/;
/** The text that is stored: event streams won, and at this time. */
const WON = /^stream (\d+)$/;
// After a day the device may be in a network that lets WebSockets through.
const MAX_MS = 86_400_000;
// Finding out anew takes three seconds.
const PATIENCE_MS = 1_000;

/** Remembers over restarts that event streams won here, and the hint by which transports are routed. It never rejects. */
export class TransportMemory {
  readonly #storage: ClientStorage | null;
  readonly #environment: Environment;
  #hint: string | null = null;
  /** Resolves when a hint is known, or cannot be had. */
  seeking: Promise<unknown> = Promise.resolve();

  constructor(storage: ClientStorage | null, environment: Environment) {
    this.#storage = storage;
    this.#environment = environment;
  }

  /** Whether event streams won in the last day; false where the storage does not say it in time. */
  async prefersStreams(): Promise<boolean> {
    const ageMs = this.#environment.now() - Number((await this.#read(KEY))?.match(WON)?.[1]);
    return ageMs >= 0 && ageMs < MAX_MS;
  }

  streamsWon(): void {
    void this.#write(KEY, `stream ${this.#environment.now()}`);
  }

  forget(): void {
    void this.#write(KEY, null);
  }

  /** The hint of the account that was signed in last; null where none is known. */
  get hint(): string | null {
    return this.#hint;
  }

  set hint(hint: string | null) {
    if (hint === null || hint !== this.#hint) void this.#write(HINT_KEY, hint);
    this.#hint = hint;
  }

  async recallHint(): Promise<void> {
    const text = await this.#read(HINT_KEY);
    this.#hint ??= text?.match(HINT)?.[0] ?? null;
  }

  async #read(key: string): Promise<string | null> {
    const storage = this.#storage;
    if (storage === null) return null;
    const text: unknown = await withinTime(this.#environment, PATIENCE_MS, undefined, (time) =>
      time.race(storage.get(key)),
    ).catch(() => null);
    return typeof text === 'string' ? text : null;
  }

  async #write(key: string, text: string | null): Promise<void> {
    try {
      await (text === null ? this.#storage?.delete(key) : this.#storage?.set(key, text));
    } catch {
      // It costs the next start a few seconds.
    }
  }
}
