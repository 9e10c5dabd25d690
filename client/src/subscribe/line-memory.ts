import type { Environment } from '../environment.ts';
import { pause } from '../request/pause.ts';
import type { ClientStorage } from '../storage.ts';

const KEY = 'trading-graph:line';
/** What won, and when. */
const WON = /^stream (\d+)$/;
// By then the device may be in a network that lets WebSockets through.
const LONGEST_MS = 86_400_000;
// Finding out anew takes three seconds.
const PATIENCE_MS = 1_000;

/** Remembers over restarts that event streams won here. It never rejects. */
export class LineMemory {
  readonly #storage: ClientStorage;
  readonly #environment: Environment;

  constructor(storage: ClientStorage, environment: Environment) {
    this.#storage = storage;
    this.#environment = environment;
  }

  /** Whether event streams won in the last day; false where the storage does not say it in time. */
  async prefersStreams(): Promise<boolean> {
    const over = new AbortController();
    try {
      const late = pause(this.#environment, PATIENCE_MS, over.signal);
      const text = await Promise.race([this.#storage.get(KEY), late]);
      const ageMs = this.#environment.now() - Number(text?.match(WON)?.[1]);
      return ageMs >= 0 && ageMs < LONGEST_MS;
    } catch {
      return false;
    } finally {
      over.abort();
    }
  }

  streamsWon(): void {
    this.#storage.set(KEY, `stream ${this.#environment.now()}`).catch(() => {});
  }

  forget(): void {
    this.#storage.delete(KEY).catch(() => {});
  }
}
