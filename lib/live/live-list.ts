import type { ListAnswer, ListState } from './list-state.ts';
import type { LiveOptions, LiveStatus, LiveViewer, PollOutcome } from './live-options.ts';
import { Poller } from './poller.ts';
import type { Subscription } from './subscription.ts';
import { type RingMember, TokenRing } from './token-ring.ts';

/** How long a list is kept after its last subscription ended. */
const LINGER_MS = 10_000;

/** A state that a live list shows. */
export type PolledState<Answer extends ListAnswer> = Pick<
  ListState<unknown, Answer, unknown>,
  'list' | 'status' | 'rows' | 'take'
>;

/** One live list, its poller and its subscriptions; what is polled is its subclass's to say. */
export abstract class LiveList<
  Viewer extends LiveViewer,
  Answer extends ListAnswer,
  State extends PolledState<Answer>,
> {
  readonly state: State;
  /** The tokens that it polls with: those of its subscriptions. */
  readonly ring: TokenRing<Viewer>;
  protected readonly poller: Poller<Viewer>;
  readonly #options: LiveOptions<Viewer>;
  readonly #onClosed: () => void;
  #cancelLinger = () => {};
  #lastFailure: Error | null = null;

  constructor(state: State, options: LiveOptions<Viewer>, onClosed: () => void) {
    this.state = state;
    this.#options = options;
    this.#onClosed = onClosed;
    this.ring = new TokenRing(options, () => this.#linger());
    this.poller = new Poller(options, this.ring, (member) => this.#poll(member));
  }

  /** Makes one call with the viewer's token. Null where it has brought nothing that may be shown. */
  protected abstract read(viewer: Viewer): Promise<Answer | null>;

  /** The failure of a subscription that has waited too long for the first list. */
  protected abstract noList(): Error;

  /** A list that need not be read, because another call has just brought it. */
  protected known(_viewer: Viewer): Answer | null {
    return null;
  }

  /** Called with each status and list that were taken, before anybody is woken. */
  protected taken(): void {}

  join(subscription: Subscription<Viewer>): void {
    this.#cancelLinger();
    const isAlone = this.ring.isEmpty;
    this.ring.join(subscription);
    if (isAlone) this.#begin(subscription.watching.viewer);
    this.#expectList();
  }

  leave(subscription: Subscription<Viewer>): void {
    this.ring.leave(subscription);
  }

  /** Reads before the interval is over, because the list has surely changed. */
  pollNow(): void {
    this.poller.pollNow();
  }

  /** Shows a list that another call than a poll has brought. */
  served(list: Answer): void {
    this.#publish(this.state.status, list);
  }

  close(): void {
    this.ring.close();
    this.#cancelLinger();
  }

  #begin(viewer: Viewer): void {
    const known = this.state.list === null ? this.known(viewer) : null;
    if (known !== null) this.#publish('LIVE', known);
    this.poller.resume(known?.sentAtMs);
  }

  /** The time counts from the first call: waiting for our own rate ceiling is not the backend's fault. */
  #expectList(): void {
    if (this.state.list !== null || !this.poller.hasBegun) return;
    const failure = () => this.#lastFailure ?? this.noList();
    for (const each of this.ring.subscriptions) each.expectList(this.#options.firstListMs, failure);
  }

  /** One poll, from its call to the subscriptions that its answer wakes. */
  async #poll(member: RingMember<Viewer>): Promise<PollOutcome> {
    this.#expectList();
    let answer: Answer | null;
    try {
      answer = await this.read(member.viewer);
    } catch (error) {
      if (this.ring.isRefused(member, error)) return { kind: 'refused' };
      this.#lastFailure = error instanceof Error ? error : new Error(String(error));
      this.#publish('DELAYED', null);
      return { kind: 'failed', error };
    }
    const { rows } = this.state;
    // A call sent later may have been answered sooner: then its list is shown.
    this.#publish('LIVE', answer);
    this.ring.accepted(member);
    return { kind: this.state.rows === rows ? 'unchanged' : 'changed' };
  }

  /** Shows a list unless it shows a newer one; wakes the subscriptions where that changes anything for them. */
  #publish(status: LiveStatus, list: Answer | null): void {
    const isChanged = this.state.take(status, list);
    this.taken();
    if (!isChanged) return;
    for (const subscription of this.ring.subscriptions) subscription.wake();
  }

  /** No token polls without a subscription; the list is kept for a while for clients that reconnect. */
  #linger(): void {
    this.poller.pause();
    this.#cancelLinger = this.#options.clock.after(LINGER_MS, this.#onClosed);
  }
}
