import type { Clock } from '../../lib/clock.ts';
import { growingLru } from '../../lib/growing-lru.ts';

interface EventPaceOptions {
  readonly fieldsPerMinute: number;
  readonly clock: Clock;
}

interface Account {
  /** The tokens left for the fields of its events; negative after too many. */
  available: number;
  atMs: number;
  /** Queued events, oldest first. */
  readonly waiting: Waiting[];
  /** A timer is set that lets the next of them go. */
  isPlanned: boolean;
}

interface Waiting {
  readonly fields: number;
  readonly go: (waitedMs: number) => void;
  readonly sinceMs: number;
}

const MAX_ACCOUNTS = 20_000;
const MINUTE_MS = 60_000;

/**
 * A token bucket for each account over the fields of its events. Beyond the rate, events wait in a
 * queue and later ones are merged behind them.
 */
export class EventPace {
  readonly #fieldsPerMinute: number;
  readonly #clock: Clock;
  readonly #accounts = growingLru<string, Account>({
    maxEntries: MAX_ACCOUNTS,
    entryBytes: 200,
    // Evicting an account must not strand its queued events, so all of them are released.
    onEvict: (account) => {
      for (const { go } of account.waiting.splice(0)) go(0);
    },
  });

  constructor({ fieldsPerMinute, clock }: EventPaceOptions) {
    this.#fieldsPerMinute = fieldsPerMinute;
    this.#clock = clock;
  }

  get byteSize(): number {
    return this.#accounts.calculatedSize;
  }

  /**
   * Reserves the expected fields of an event. Null means that it may go; otherwise resolves with
   * the time waited. An event whose subscription ends meanwhile waits no longer, and has no fields.
   */
  admit(key: string, fields: number, ending?: AbortSignal): Promise<number> | null {
    const account = this.#account(key);
    if (account.waiting.length === 0 && account.available > 0) {
      account.available -= fields;
      return null;
    }
    return new Promise((resolve) => {
      const sinceMs = this.#clock.now();
      const leave = () => {
        account.waiting.splice(account.waiting.indexOf(waiting), 1);
        resolve(this.#clock.now() - sinceMs);
      };
      const go = (waitedMs: number) => {
        ending?.removeEventListener('abort', leave);
        resolve(waitedMs);
      };
      const waiting: Waiting = { fields, go, sinceMs };
      account.waiting.push(waiting);
      ending?.addEventListener('abort', leave);
      if (!account.isPlanned) this.#releaseLater(account);
    });
  }

  /** Replaces the reservation with the number of fields that the event had. */
  settle(key: string, reserved: number, fields: number): void {
    const account = this.#accounts.get(key);
    if (account) account.available += reserved - fields;
  }

  #account(key: string): Account {
    let account = this.#accounts.get(key);
    if (!account) {
      const available = this.#fieldsPerMinute;
      account = { available, atMs: this.#clock.now(), waiting: [], isPlanned: false };
      this.#accounts.set(key, account);
    }
    this.#refill(account);
    return account;
  }

  #refill(account: Account): void {
    const nowMs = this.#clock.now();
    const earned = ((nowMs - account.atMs) * this.#fieldsPerMinute) / MINUTE_MS;
    account.available = Math.min(this.#fieldsPerMinute, account.available + earned);
    account.atMs = nowMs;
  }

  #releaseLater(account: Account): void {
    account.isPlanned = true;
    const missing = Math.max(0, 1 - account.available);
    const waitMs = Math.ceil((missing * MINUTE_MS) / this.#fieldsPerMinute);
    this.#clock.after(Math.max(1, waitMs), () => this.#release(account));
  }

  #release(account: Account): void {
    account.isPlanned = false;
    this.#refill(account);
    while (account.available > 0) {
      const next = account.waiting.shift();
      if (!next) return;
      account.available -= next.fields;
      next.go(this.#clock.now() - next.sinceMs);
    }
    if (account.waiting.length > 0) this.#releaseLater(account);
  }
}
