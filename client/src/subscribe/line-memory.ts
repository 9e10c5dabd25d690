import type { Environment } from '../environment.ts';
import { withinTime } from '../request/deadline.ts';
import type { ClientStorage } from '../storage.ts';

const KEY = 'trading-graph:line';
/** The text that is stored: event streams won, and at this time. */
const WON = /^stream (\d+)$/;
// After a day the device may be in a network that lets WebSockets through.
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
    try {
      const text = await withinTime(this.#environment, PATIENCE_MS, undefined, (time) =>
        time.race(this.#storage.get(KEY)),
      );
      const ageMs = this.#environment.now() - Number(text?.match(WON)?.[1]);
      return ageMs >= 0 && ageMs < LONGEST_MS;
    } catch {
      return false;
    }
  }

  streamsWon(): void {
    this.#storage.set(KEY, `stream ${this.#environment.now()}`).catch(() => {});
  }

  forget(): void {
    this.#storage.delete(KEY).catch(() => {});
  }
}
