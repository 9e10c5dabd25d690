import { callApp } from '../call-app.ts';
import type { Core } from '../core.ts';
import { Listeners } from '../listeners.ts';

/** The listeners to the state of one account. That state is dropped when another account is signed in. */
export class Followers<State> {
  readonly #core: Core;
  readonly #state: () => State;
  readonly #forgetOthers: (login: string) => void;
  readonly #listeners: Listeners<[State]>;
  #end: (() => void) | null = null;

  constructor(core: Core, state: () => State, forgetOthers: (login: string) => void) {
    this.#core = core;
    this.#state = state;
    this.#forgetOthers = forgetOthers;
    this.#listeners = new Listeners(core.environment);
  }

  add(listener: (state: State) => void): () => void {
    const leave = this.#listeners.add(listener);
    this.#end ??= this.#core.onAccountChange((login) => {
      if (login !== null) this.#forgetOthers(login);
    });
    callApp(this.#core.environment, () => listener(this.#state()));
    return () => {
      leave();
      if (this.#listeners.size > 0) return;
      this.#end?.();
      this.#end = null;
    };
  }

  /** Drops another account's state: the account may have changed while there was no listener. */
  check(): void {
    const { login } = this.#core;
    if (login !== null) this.#forgetOthers(login);
  }

  notify(): void {
    if (this.#listeners.size > 0) this.#listeners.notify(this.#state());
  }
}
