import { fireAndForget } from '../fire-and-forget.ts';
import type { LiveOptions, LiveViewer } from './live-options.ts';
import { RetryPause } from './retry-pause.ts';
import type { Subscription } from './subscription.ts';

/** One token with subscriptions to a list. */
export class RotatedToken<Viewer> {
  readonly viewer: Viewer;
  readonly subscriptions = new Set<Subscription<Viewer>>();
  polledAtMs = Number.NEGATIVE_INFINITY;
  /** Its proof is being renewed. */
  isRenewing = false;
  /** The pause between renewals that fail. */
  readonly retry: RetryPause;
  /** An event was withheld from one of its subscriptions for lack of proof. */
  hasWithheldEvent = false;
  cancelExpiry: (() => void) | null = null;

  constructor(viewer: Viewer, options: LiveOptions<Viewer>) {
    this.viewer = viewer;
    this.retry = new RetryPause(options);
  }
}

/** The tokens of one list's subscriptions in round robin, the next one to poll first. */
export class TokenRotation<Viewer extends LiveViewer> {
  readonly #members = new Map<string, RotatedToken<Viewer>>();
  readonly #options: LiveOptions<Viewer>;
  readonly #onEmpty: () => void;
  /** Whether another token was without proof when the last one was taken. */
  hasUnproved = false;

  /** `onEmpty` is called when the last token has left. */
  constructor(options: LiveOptions<Viewer>, onEmpty: () => void) {
    this.#options = options;
    this.#onEmpty = onEmpty;
  }

  get isEmpty(): boolean {
    return this.#members.size === 0;
  }

  /** One of those who follow the list. */
  get viewer(): Viewer | null {
    const [member] = this.#members.values();
    return member?.viewer ?? null;
  }

  get subscriptionCount(): number {
    return [...this.#members.values()].reduce(
      (sum, { subscriptions }) => sum + subscriptions.size,
      0,
    );
  }

  forEachSubscription(task: (subscription: Subscription<Viewer>) => void): void {
    for (const { subscriptions } of this.#members.values()) subscriptions.forEach(task);
  }

  join(subscription: Subscription<Viewer>): void {
    const { viewer } = subscription.watching;
    const member = this.#members.get(viewer.tokenHash) ?? this.#admit(viewer);
    member.subscriptions.add(subscription);
  }

  leave(subscription: Subscription<Viewer>): void {
    const member = this.#members.get(subscription.watching.viewer.tokenHash);
    if (member?.subscriptions.delete(subscription) && member.subscriptions.size === 0)
      this.#dismiss(member, null);
  }

  close(): void {
    for (const member of [...this.#members.values()]) this.#dismiss(member, null);
  }

  /** Whether this token's subscriptions may get new events now; those that may not are woken once they may. */
  maySend(viewer: Viewer): boolean {
    if (this.#isProved(viewer)) return true;
    const member = this.#members.get(viewer.tokenHash);
    if (member) member.hasWithheldEvent = true;
    return false;
  }

  /** The next token to poll: one without proof where the poll renews it, else one with; of several the one that waits longest. */
  next(nowMs: number): RotatedToken<Viewer> | null {
    const members = [...this.#members.values()];
    const proved = () => members.find(({ viewer }) => this.#isProved(viewer));
    const unproved = members.filter((member) => this.#mustRenew(member, nowMs));
    this.hasUnproved = unproved.length > 1;
    const member = unproved[0] ?? (this.#pollsProve ? null : proved()) ?? members[0] ?? null;
    if (member === null) return null;
    member.polledAtMs = nowMs;
    // The token moves behind the others.
    this.#members.delete(member.viewer.tokenHash);
    this.#members.set(member.viewer.tokenHash, member);
    return member;
  }

  /** The backend has answered a call with this token. */
  accepted(member: RotatedToken<Viewer>): void {
    for (const each of this.#pollsProve ? [member] : this.#members.values()) {
      if (!this.#isProved(each.viewer)) fireAndForget('live feed', this.#renew(each));
    }
    this.#wakeWithheld();
  }

  /** Ends the token's subscriptions where a failure is a refusal of the token; returns whether it is. */
  isRefused(member: RotatedToken<Viewer>, error: unknown): boolean {
    const refusal = this.#options.tokens?.endBehind(error) ?? null;
    if (refusal !== null) this.#dismiss(member, refusal);
    return refusal !== null;
  }

  /** Renews the proof of a token whose call succeeded and which still has none, as after a refusal by another operation. */
  async #renew(member: RotatedToken<Viewer>): Promise<void> {
    if (member.isRenewing || !member.retry.isOver) return;
    member.isRenewing = true;
    try {
      await this.#options.tokens?.prove(member.viewer);
      member.retry.succeeded();
    } catch (error) {
      member.retry.failed(error);
      this.isRefused(member, error);
    } finally {
      member.isRenewing = false;
    }
    this.#wakeWithheld();
  }

  #wakeWithheld(): void {
    for (const member of this.#members.values()) {
      if (!member.hasWithheldEvent || !this.#isProved(member.viewer)) continue;
      member.hasWithheldEvent = false;
      for (const subscription of member.subscriptions) subscription.wake();
    }
  }

  /** Whether it must poll before its subscriptions may get new events, which no token does more often than every `pollMs`. */
  #mustRenew(
    { viewer, polledAtMs, retry, isRenewing }: RotatedToken<Viewer>,
    nowMs: number,
  ): boolean {
    if (!this.#pollsProve || isRenewing) return false;
    const dueMs = Math.max(polledAtMs + this.#options.pollMs, retry.untilMs);
    return nowMs >= dueMs && !this.#isProved(viewer);
  }

  get #pollsProve(): boolean {
    return this.#options.tokens?.isProvedByPolls ?? true;
  }

  #isProved(viewer: Viewer): boolean {
    return this.#options.tokens?.isProved(viewer) ?? true;
  }

  #admit(viewer: Viewer): RotatedToken<Viewer> {
    const { clock, tokens } = this.#options;
    const member = new RotatedToken(viewer, this.#options);
    this.#members.set(viewer.tokenHash, member);
    const { expiresAtMs } = viewer;
    if (tokens && expiresAtMs !== null) {
      const nowMs = clock.date();
      // A token accepted past its expiry, within the leeway for clock skew, ends with the leeway.
      const endsAtMs = nowMs < expiresAtMs ? expiresAtMs : expiresAtMs + tokens.leewayMs;
      member.cancelExpiry = clock.after(endsAtMs - nowMs, () =>
        this.#dismiss(member, tokens.expired()),
      );
    }
    return member;
  }

  #dismiss(member: RotatedToken<Viewer>, reason: Error | null): void {
    const { viewer, subscriptions, cancelExpiry } = member;
    if (this.#members.get(viewer.tokenHash) !== member) return;
    cancelExpiry?.();
    this.#members.delete(viewer.tokenHash);
    for (const subscription of [...subscriptions]) subscription.events.end(reason);
    if (this.isEmpty) this.#onEmpty();
  }
}
