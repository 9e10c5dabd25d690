import { callApp } from '../call-app.ts';
import type { Followable } from '../core.ts';
import type { RequestEnvironment } from '../environment.ts';
import type { TradingGraphError } from '../errors.ts';
import { Listeners } from '../listeners.ts';

/** The requests that are being tried again, each with why its last attempt failed. */
export class RetryingRequests {
  readonly #errors = new Map<object, TradingGraphError>();
  readonly followed: Followable<TradingGraphError | null>;
  readonly #listeners: Listeners<[TradingGraphError | null]>;
  #last: TradingGraphError | null = null;

  constructor(environment: RequestEnvironment) {
    const listeners = new Listeners<[TradingGraphError | null]>(environment);
    this.#listeners = listeners;
    const follow = (listener: (error: TradingGraphError | null) => void) => {
      callApp(environment, () => listener(this.#last));
      return listeners.add(listener);
    };
    this.followed = Object.assign(follow, { state: () => this.#last });
  }

  /** Null: the request is not tried again. */
  note(request: object, error: TradingGraphError | null): void {
    this.#errors.delete(request);
    if (error !== null) this.#errors.set(request, error);
    const last = [...this.#errors.values()].at(-1) ?? null;
    if (last === this.#last) return;
    this.#last = last;
    this.#listeners.tell(last);
  }
}
