import type { AccountState } from '../../client/src/live/states.ts';
import type { App } from './app.ts';
import { noteMark } from './lanes/mark.ts';

export const SPAN_MS = 60_000;
/** A server that sends more events within a minute shortens the past. */
const MAX_STATES = 600;

interface Kept {
  readonly atMs: number;
  readonly state: AccountState;
}

type Draw = (state: AccountState, atMs: number | null) => void;

/**
 * The account as it was: each state is what the events until then amount to, so the states of the last minute are its
 * past. Rows that did not change are the same objects in all of them.
 */
export class LookBack {
  readonly #app: App;
  readonly #draws = new Set<Draw>();
  #kept: readonly Kept[] = [];
  /** Null while the account is shown as it is. What comes meanwhile is kept, and changes nothing of this past. */
  #past: { readonly kept: readonly Kept[]; readonly atMs: number } | null = null;

  constructor(app: App) {
    this.#app = app;
    app.client.account((state) => this.#keep(state));
    // The next user sees nothing of the former's past.
    app.onUserChange(() => {
      this.#kept = [];
      this.lookAt(null);
    });
    for (const button of document.querySelectorAll('.to-live')) {
      button.addEventListener('click', () => this.lookAt(null));
    }
  }

  /** Draws each state that is to be shown, with its moment where that is not now. */
  onShown(draw: Draw): void {
    this.#draws.add(draw);
    this.#show();
  }

  /** Shows the account as it was at that moment, or as early as is known; null for now. */
  lookAt(atMs: number | null): void {
    const { kept } = this.#past ?? { kept: this.#kept };
    const first = kept[0]?.atMs;
    this.#past =
      atMs === null || first === undefined ? null : { kept, atMs: Math.max(atMs, first) };
    this.#show();
  }

  #keep(state: AccountState): void {
    const atMs = Date.now();
    const before = this.#kept.at(-1)?.state.status ?? state.status;
    if (before !== state.status) noteMark({ lane: 'app', kind: 'change', text: state.status });
    // The last one before the minute is what the minute begins with.
    const from = this.#kept.findLastIndex((kept) => kept.atMs < atMs - SPAN_MS);
    const known = state.asOf === null ? [] : [{ atMs, state }];
    this.#kept = [...this.#kept.slice(Math.max(0, from)), ...known].slice(-MAX_STATES);
    if (this.#past === null) this.#show();
  }

  #show(): void {
    const { kept = [], atMs = null } = this.#past ?? {};
    document.documentElement.toggleAttribute('data-past', atMs !== null);
    const then = kept.findLast((each) => each.atMs <= (atMs ?? 0));
    const state = then?.state ?? this.#app.client.account.state();
    for (const draw of this.#draws) draw(state, atMs);
  }
}
