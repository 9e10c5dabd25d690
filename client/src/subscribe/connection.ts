import type { Environment } from '../environment.ts';
import type { TradingGraphError } from '../errors.ts';
import { backoffMs } from '../request/backoff.ts';
import { asTradingGraphError } from '../request/failures.ts';
import type { Tokens } from '../request/tokens.ts';
import type { Line, Loss, OpenLine } from './line.ts';
import type { Subscription } from './subscription.ts';

export interface ConnectionOptions {
  readonly environment: Environment;
  readonly tokens: Tokens;
  readonly open: OpenLine;
  /** Resolves when the URL of a line with this token is known. */
  readonly prepare: (token: string) => Promise<void>;
  /** Called with each token that a line is opened with. */
  readonly onToken: (token: string) => void;
  /** Called when its subscriptions have ended by themselves. */
  readonly onEnded: () => void;
  /** A line was lost before it was acknowledged; the number of times in a row. */
  readonly onFailedHandshake: (failures: number) => void;
}

type State =
  | { readonly name: 'idle' }
  | { readonly name: 'waiting'; readonly cancel: () => void }
  /** The token is asked for, and where the line is to go. */
  | { readonly name: 'preparing' }
  | OpenState;

interface OpenState {
  readonly name: 'opening' | 'open';
  readonly line: Line;
  readonly token: string;
  readonly sinceMs: number;
  readonly hadData: boolean;
}

// A server that closes sockets right after their first data would be hammered.
const SHORT_LIFE_MS = 2_000;
const INSTANT_RETRY_MS = 1_000;
const IDLE: State = { name: 'idle' };

/** Keeps a line open while there are subscriptions, and carries them from a lost line to the next. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #subscriptions = new Set<Subscription>();
  #state: State = IDLE;
  /** Distinguishes the current attempt from those given up. */
  #attempt = 0;
  /** Lost lines since the last data, which alone shows that a line is of use. */
  #failures = 0;
  #failedHandshakes = 0;
  #refusals = 0;
  #instantRetryAt = Number.NEGATIVE_INFINITY;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#state.name === 'open';
  }

  get size(): number {
    return this.#subscriptions.size;
  }

  add(subscription: Subscription): void {
    this.#subscriptions.add(subscription);
    if (this.#state.name === 'open') {
      subscription.connected();
      this.#start(subscription);
    } else if (this.#state.name === 'opening') this.#start(subscription);
    else if (this.#state.name === 'idle') void this.#connect();
  }

  remove(subscription: Subscription): void {
    this.#subscriptions.delete(subscription);
    subscription.cancel();
    if (this.#subscriptions.size === 0) this.#rest();
  }

  /** Lets go of the subscriptions, which another connection takes over. */
  release(): readonly Subscription[] {
    const released = [...this.#subscriptions];
    this.#subscriptions.clear();
    this.#refusals = 0;
    this.#rest();
    for (const subscription of released) {
      subscription.leave();
      subscription.disconnected();
    }
    return released;
  }

  endAll(error: TradingGraphError): void {
    for (const subscription of this.release()) subscription.end(error);
    this.#options.onEnded();
  }

  /** Opens a new line with the token of now. */
  restart(): void {
    if (this.#subscriptions.size === 0) return;
    this.#giveUp();
    for (const subscription of [...this.#subscriptions]) subscription.disconnected();
    if (this.#subscriptions.size > 0 && this.#state.name === 'idle') void this.#connect();
  }

  /** Replaces a line that is open, or ends the wait for the next one. */
  reconnect(): void {
    if (this.#state.name === 'open' || this.#state.name === 'waiting') this.restart();
  }

  /** The page is shown again, or the network is back. */
  returned(): void {
    const { environment } = this.#options;
    if (this.#state.name === 'open') {
      this.#state.line.check();
      return;
    }
    const isStuck =
      this.#state.name === 'opening' &&
      environment.uptime() - this.#state.sinceMs > INSTANT_RETRY_MS;
    if (this.#state.name !== 'waiting' && !isStuck) return;
    // Networks that flap report it several times a second.
    if (environment.uptime() - this.#instantRetryAt < INSTANT_RETRY_MS) return;
    this.#instantRetryAt = environment.uptime();
    this.restart();
  }

  async #connect(): Promise<void> {
    const { tokens, prepare } = this.#options;
    this.#attempt += 1;
    const attempt = this.#attempt;
    this.#state = { name: 'preparing' };
    try {
      const token = await tokens.get();
      if (attempt === this.#attempt) await prepare(token);
      if (attempt === this.#attempt) this.#open(token);
    } catch (thrown) {
      if (attempt === this.#attempt) this.#failed(asTradingGraphError(thrown));
    }
  }

  #open(token: string): void {
    const attempt = this.#attempt;
    this.#options.onToken(token);
    const sinceMs = this.#options.environment.uptime();
    const line = this.#opened(token, attempt);
    if (line === null) {
      this.#wait(0);
      this.#handshakeFailed();
      return;
    }
    this.#state = { name: 'opening', line, token, sinceMs, hadData: false };
    for (const subscription of [...this.#subscriptions]) this.#start(subscription);
  }

  /** Null where the platform refuses to open it, as a content security policy makes it do. */
  #opened(token: string, attempt: number): Line | null {
    try {
      return this.#options.open(token, {
        acknowledged: () => {
          if (attempt === this.#attempt) this.#acknowledged();
        },
        lost: (loss) => {
          if (attempt === this.#attempt) this.#lost(loss);
        },
      });
    } catch {
      return null;
    }
  }

  #acknowledged(): void {
    if (this.#state.name !== 'opening') return;
    this.#state = { ...this.#state, name: 'open' };
    this.#failedHandshakes = 0;
    for (const subscription of [...this.#subscriptions]) subscription.connected();
  }

  #start(subscription: Subscription): void {
    if (this.#state.name !== 'opening' && this.#state.name !== 'open') return;
    if (subscription.isOver) return;
    const { line, token } = this.#state;
    const attempt = this.#attempt;
    const request = subscription.request();
    if (request === null) {
      this.#subscriptions.delete(subscription);
      return;
    }
    subscription.leave = line.start(request, {
      next: (result) => {
        if (attempt !== this.#attempt) return;
        if (result.data !== null) this.#hasData(token);
        if (result.data === null && result.errors.some(isRefusal))
          this.#lost({ kind: 'token-refused' });
        else subscription.next(result);
      },
      ended: (errors) => {
        if (attempt !== this.#attempt) return;
        if (errors.some(isRefusal)) this.#lost({ kind: 'token-refused' });
        else this.#ended(subscription, subscription.reason(errors));
      },
    });
  }

  #hasData(token: string): void {
    if (this.#state.name === 'open') this.#state = { ...this.#state, hadData: true };
    this.#failures = 0;
    this.#refusals = 0;
    this.#options.tokens.accepted(token);
  }

  /** After a retryable error the subscription starts again on the same line; any other end is final. */
  #ended(subscription: Subscription, error: TradingGraphError | null): void {
    subscription.leave = () => {};
    if (error?.retryable !== true) {
      this.#subscriptions.delete(subscription);
      subscription.end(error);
      if (this.#subscriptions.size === 0) this.#rest();
      return;
    }
    const { environment } = this.#options;
    subscription.failures += 1;
    subscription.disconnected(error);
    const delayMs = backoffMs(subscription.failures - 1, environment.random, error.retryAfter ?? 0);
    subscription.leave = environment.after(delayMs, () => {
      subscription.leave = () => {};
      this.#startAgain(subscription);
    });
  }

  /** An event stream carries one subscription, and ends with it. */
  #startAgain(subscription: Subscription): void {
    if (this.#state.name !== 'opening' && this.#state.name !== 'open') return;
    if (!this.#state.line.isReusable) {
      this.restart();
      return;
    }
    if (this.#state.name === 'open') subscription.connected();
    this.#start(subscription);
  }

  #lost(loss: Loss): void {
    const state = this.#state;
    if (state.name !== 'opening' && state.name !== 'open') return;
    const wasOpen = state.name === 'open';
    this.#giveUp();
    if (loss.kind === 'fatal') {
      this.endAll(loss.error);
      return;
    }
    for (const subscription of [...this.#subscriptions]) subscription.disconnected();
    if (this.#subscriptions.size === 0) return;
    const lifeMs = this.#options.environment.uptime() - state.sinceMs;
    if (loss.kind === 'token-refused') {
      void this.#renew(state, lifeMs);
      return;
    }
    this.#wait(loss.retryAfter ?? 0);
    if (!wasOpen) this.#handshakeFailed();
  }

  #handshakeFailed(): void {
    this.#failedHandshakes += 1;
    this.#options.onFailedHandshake(this.#failedHandshakes);
  }

  async #renew({ token: refused, hadData }: OpenState, lifeMs: number): Promise<void> {
    const { tokens } = this.#options;
    this.#attempt += 1;
    const attempt = this.#attempt;
    this.#state = { name: 'preparing' };
    // Without data before the first refusal the token was simply out of date.
    const isLoop = hadData && lifeMs < SHORT_LIFE_MS;
    this.#refusals += 1;
    try {
      if (this.#refusals > 1) throw tokens.refusedAgain(refused);
      const token = await tokens.renewed(refused);
      if (attempt !== this.#attempt) return;
      if (isLoop) this.#wait(0);
      else this.#open(token);
    } catch (thrown) {
      if (attempt === this.#attempt) this.#failed(asTradingGraphError(thrown));
    }
  }

  #failed(error: TradingGraphError): void {
    this.#state = IDLE;
    if (error.retryable) this.#wait(error.retryAfter ?? 0);
    else {
      this.#refusals = 0;
      this.endAll(error);
    }
  }

  #wait(floorSeconds: number): void {
    const { environment } = this.#options;
    const delayMs = backoffMs(this.#failures, environment.random, floorSeconds);
    this.#failures += 1;
    this.#state = {
      name: 'waiting',
      cancel: environment.after(delayMs, () => void this.#connect()),
    };
  }

  #rest(): void {
    this.#giveUp();
    this.#state = IDLE;
  }

  #giveUp(): void {
    this.#attempt += 1;
    if (this.#state.name === 'waiting') this.#state.cancel();
    if (this.#state.name === 'opening' || this.#state.name === 'open') this.#state.line.close();
    this.#state = IDLE;
    for (const subscription of this.#subscriptions) {
      // Its pause, if there is one, ends with the line.
      subscription.leave();
      subscription.leave = () => {};
    }
  }
}

function isRefusal({ code }: TradingGraphError): boolean {
  return code === 'UNAUTHENTICATED';
}
