import type { Environment } from '../environment.ts';
import { TradingGraphError } from '../errors.ts';
import { fireAndForget } from '../fire-and-forget.ts';
import { backoffMs } from '../request/backoff.ts';
import { asTradingGraphError, messageOf } from '../request/failures.ts';
import type { Tokens } from '../request/tokens.ts';
import {
  type ConnectionState,
  IDLE,
  type TransportState,
  withTransport,
} from './connection-state.ts';
import { handshakeError } from './handshake-error.ts';
import type { SocketTransport } from './socket-transport.ts';
import type { Subscription } from './subscription.ts';
import type { Disconnect, TransportEvents } from './transport.ts';

export interface ConnectionOptions {
  readonly environment: Environment;
  readonly tokens: Tokens;
  readonly open: (token: string, events: TransportEvents) => SocketTransport;
  /** Whether the app has been hidden for too long to follow anything. */
  readonly isPaused: () => boolean;
  /** Called with each token that a transport is opened with. */
  readonly onToken: (token: string) => void;
  /** Called when the last subscription has ended. */
  readonly onEnded: () => void;
  /** Finds out why no transport opens: if requests fail too, their error is the reason. */
  readonly diagnose: (error: TradingGraphError) => Promise<TradingGraphError>;
}

/** The code of a socket that was not closed by the server. */
const ABNORMAL_CLOSURE = 1006;
/** After this many refused transports in a row the server counts as unreachable. */
const UNREACHABLE_AFTER = 2;
/** A server that refuses the token this soon after data may do so each time, so the next socket waits. */
const SHORT_LIFE_MS = 2_000;
const INSTANT_RETRY_MS = 1_000; // The least time between two attempts that a return to the app begins.
/** A renewed token that is refused within this time is not renewed again. A later refusal means that it has expired. */
const NEW_TOKEN_MS = 60_000;

/** Keeps a transport open while there are subscriptions. If the transport is lost, they continue over a new one. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #subscriptions = new Set<Subscription>();
  #state: ConnectionState = IDLE;
  /** The number of the current attempt. Earlier attempts were given up. */
  #attempt = 0;
  /** Lost transports since the last data. Only data shows that a transport works. */
  #failures = 0;
  #failedHandshakes = 0;
  /** The token that replaced a refused one, and when, by two clocks; null once a transport with it has brought data. */
  #renewed: { readonly token: string; readonly atMs: number; readonly uptimeMs: number } | null =
    null;
  #instantRetryAt = Number.NEGATIVE_INFINITY;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get #isOpen(): boolean {
    return this.#state.name === 'open';
  }

  add(subscription: Subscription): void {
    this.#subscriptions.add(subscription);
    if (this.#state.name === 'idle') fireAndForget(this.#connect());
    else this.#begin(subscription);
  }

  remove(subscription: Subscription): void {
    this.#subscriptions.delete(subscription);
    subscription.cancel();
    this.#closeIfUnused();
  }

  endAll(error: TradingGraphError): void {
    const ended = [...this.#subscriptions];
    this.#subscriptions.clear();
    this.#giveUp();
    for (const subscription of ended) {
      subscription.leave();
      subscription.disconnected();
      subscription.end(error);
    }
    this.#options.onEnded();
  }

  /** Opens a new transport with the current token. While the app is hidden, only closes the old one. */
  restart(): void {
    if (this.#subscriptions.size === 0) return;
    this.#giveUp();
    for (const subscription of [...this.#subscriptions]) subscription.disconnected();
    if (this.#subscriptions.size > 0 && this.#state.name === 'idle') fireAndForget(this.#connect());
  }

  /** Called after a sign-in. A connection that waits for a token or for its next attempt begins a new attempt now. */
  tokenChanged(): void {
    if (this.#state.name === 'waiting' || this.#state.name === 'preparing') this.restart();
  }

  /** Called when the page is shown again, or the network is back: an open transport may be dead without an event. */
  returned(why?: 'online'): void {
    const state = this.#state;
    const nowMs = this.#options.environment.uptime();
    // A network that flaps is reported as back several times a second.
    const isFlapping = nowMs - this.#instantRetryAt < INSTANT_RETRY_MS;
    const mayBeAlive = why !== 'online' || isFlapping;
    if (state.name === 'open' && mayBeAlive && state.transport.check()) return;
    // An attempt that has just begun is not interrupted.
    if (state.name === 'preparing' || (isFlapping && state.name !== 'idle')) return;
    if (state.name === 'opening' && nowMs - state.sinceMs <= INSTANT_RETRY_MS) return;
    this.#instantRetryAt = nowMs;
    this.#options.tokens.returned();
    this.restart();
  }

  async #connect(): Promise<void> {
    const { tokens, isPaused } = this.#options;
    if (isPaused()) return;
    await this.#prepare(async (isCurrent) => {
      const token = await tokens.get();
      if (isCurrent()) this.#open(token);
    });
  }

  /** Runs the steps to a new transport. The steps must stop when `isCurrent` is false: then the attempt was given up. */
  async #prepare(steps: (isCurrent: () => boolean) => Promise<void>): Promise<void> {
    this.#attempt += 1;
    const attempt = this.#attempt;
    const isCurrent = () => attempt === this.#attempt;
    this.#state = { name: 'preparing' };
    try {
      await steps(isCurrent);
    } catch (thrown) {
      if (isCurrent()) this.#failed(asTradingGraphError(thrown));
    }
  }

  #open(token: string): void {
    this.#options.onToken(token);
    const sinceMs = this.#options.environment.uptime();
    const transport = this.#opened(token);
    if (transport instanceof TradingGraphError) {
      this.#wait(0);
      this.#handshakeFailed(transport);
      return;
    }
    this.#state = { name: 'opening', transport, token, sinceMs, hadData: false };
    for (const subscription of [...this.#subscriptions]) this.#begin(subscription);
  }

  /** Opens a transport. Returns an error if the platform refuses it, for example by a content security policy. */
  #opened(token: string): SocketTransport | TradingGraphError {
    const attempt = this.#attempt;
    try {
      return this.#options.open(token, {
        opened: () => {
          for (const subscription of [...this.#subscriptions]) subscription.progressed();
        },
        acknowledged: () => {
          if (attempt === this.#attempt) this.#acknowledged();
        },
        lost: (disconnect) => {
          if (attempt === this.#attempt) this.#lost(disconnect);
        },
      });
    } catch (thrown) {
      return handshakeError(messageOf(thrown));
    }
  }

  #acknowledged(): void {
    if (this.#state.name !== 'opening') return;
    this.#state = { ...this.#state, name: 'open' };
    this.#failedHandshakes = 0;
    for (const subscription of [...this.#subscriptions]) subscription.connected();
  }

  /** Begins the subscription if there is a transport. Without one, the subscription begins with the next transport. */
  #begin(subscription: Subscription): void {
    if (this.#isOpen) subscription.connected();
    const state = withTransport(this.#state);
    if (state === null || subscription.isOver) return;
    const { transport, token } = state;
    const attempt = this.#attempt;
    const request = subscription.request();
    if (request === null) {
      this.#subscriptions.delete(subscription);
      this.#closeIfUnused();
      return;
    }
    const leave = transport.start(request, {
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
    subscription.carriedBy(leave);
  }

  #hasData(token: string): void {
    if (this.#state.name === 'open') this.#state = { ...this.#state, hadData: true };
    this.#failures = 0;
    this.#renewed = null;
    this.#options.tokens.accepted(token);
  }

  /** After a retryable error the subscription starts again on the same transport; any other end is final. */
  #ended(subscription: Subscription, error: TradingGraphError | null): void {
    subscription.carriedBy(() => {});
    if (error?.retryable !== true) {
      this.#subscriptions.delete(subscription);
      subscription.end(error);
      this.#closeIfUnused();
      return;
    }
    subscription.pause(error, () => this.#begin(subscription));
  }

  #lost(disconnect: Disconnect): void {
    const state = withTransport(this.#state);
    if (state === null) return;
    this.#giveUp();
    if (disconnect.kind === 'fatal') {
      this.endAll(disconnect.error);
      return;
    }
    // Waits first, so that subscriptions which the app adds in `disconnected` wait for the next transport too.
    if (disconnect.kind === 'broken') this.#wait(disconnect.retryAfter ?? 0);
    for (const subscription of [...this.#subscriptions]) subscription.disconnected();
    if (this.#subscriptions.size === 0) return;
    if (disconnect.kind === 'token-refused') {
      const lifeMs = this.#options.environment.uptime() - state.sinceMs;
      fireAndForget(this.#renew(state, lifeMs));
      return;
    }
    if (state.name === 'opening') this.#handshakeFailed(disconnect.error);
  }

  #handshakeFailed(error = handshakeError('it was lost before')): void {
    this.#failedHandshakes += 1;
    if (this.#failedHandshakes >= UNREACHABLE_AFTER)
      for (const subscription of [...this.#subscriptions]) subscription.unreachable();
    const { closeCode = ABNORMAL_CLOSURE } = error.extensions;
    // A close code of the server is the reason. Without such a code the client looks for the reason.
    if (closeCode !== ABNORMAL_CLOSURE) this.#report(error);
    else fireAndForget(this.#diagnose(error));
  }

  async #diagnose(error: TradingGraphError): Promise<void> {
    const found = await this.#options.diagnose(error);
    // A later attempt may already have succeeded.
    if (!this.#isOpen) this.#report(found);
  }

  #report(error: TradingGraphError): void {
    for (const subscription of [...this.#subscriptions]) subscription.failing(error);
  }

  #renew({ token: refused, hadData }: TransportState, lifeMs: number): Promise<void> {
    const { tokens, environment } = this.#options;
    // Without data before the refusal the token had only expired: the next socket need not wait.
    const isLoop = hadData && lifeMs < SHORT_LIFE_MS;
    return this.#prepare(async (isCurrent) => {
      if (this.#wasJustRenewed(refused)) throw tokens.refusedAgain(refused);
      const token = await tokens.renewed(refused);
      this.#renewed = { token, atMs: environment.now(), uptimeMs: environment.uptime() };
      if (!isCurrent()) return;
      if (isLoop) this.#wait(0);
      else this.#open(token);
    });
  }

  #wasJustRenewed(token: string): boolean {
    const { environment } = this.#options;
    if (this.#renewed?.token !== token) return false;
    const { atMs, uptimeMs } = this.#renewed;
    const ageMs = Math.max(environment.now() - atMs, environment.uptime() - uptimeMs);
    return ageMs < NEW_TOKEN_MS;
  }

  #failed(error: TradingGraphError): void {
    if (error.retryable) {
      this.#wait(error.retryAfter ?? 0);
      this.#report(error);
    } else this.endAll(error);
  }

  #wait(floorSeconds: number): void {
    const { environment } = this.#options;
    const delayMs = backoffMs(this.#failures, environment.random, floorSeconds);
    this.#failures += 1;
    this.#state = {
      name: 'waiting',
      cancel: environment.after(delayMs, () => fireAndForget(this.#connect())),
    };
  }

  /** Closes the transport if no subscriptions are left. */
  #closeIfUnused(): void {
    if (this.#subscriptions.size > 0) return;
    this.#giveUp();
    this.#options.onEnded();
  }

  #giveUp(): void {
    this.#attempt += 1;
    if (this.#state.name === 'waiting') this.#state.cancel();
    withTransport(this.#state)?.transport.close();
    this.#state = IDLE;
    // Subscriptions that pause on the transport begin on the next one without a pause.
    for (const subscription of this.#subscriptions) subscription.leave();
  }
}

function isRefusal({ code }: TradingGraphError): boolean {
  return code === 'UNAUTHENTICATED';
}
