import { callApp } from '../call-app.ts';
import type { Environment } from '../environment.ts';
import type { TradingGraphError } from '../errors.ts';
import { fireAndForget } from '../fire-and-forget.ts';
import { type Deadline, MAX_MS, withinTime } from '../request/deadline.ts';
import type { Exchanger } from '../request/exchange.ts';
import {
  asTradingGraphError,
  disposedError,
  isLate,
  networkError,
  offlineError,
  protocolError,
  signedOutError,
} from '../request/failures.ts';
import { neverLeft } from '../request/never-left.ts';
import { PING } from '../request/ping.ts';
import { isSame, type SignIn } from '../sign-in.ts';
import { askOutcome } from './ask-outcome.ts';
import { KeyDates } from './key-dates.ts';
import { KeyEntry, outOfTime } from './key-entry.ts';
import { PLACED_ORDER, VOID_ORDER } from './operations.ts';
import { OrderConnection } from './order-connection.ts';
import { orderKey, timeOfKey } from './order-key.ts';
import { type OrderOutcome, ofAllRequests, readAnswer, type Settled } from './outcome.ts';
import type { Placed } from './placed.ts';
import {
  isLasting,
  isRefusedKey,
  mayClose,
  mayHaveTraded,
  needsOtherKey,
  pauseMs,
} from './repeat-rules.ts';
import type { StoredKey } from './stored-keys.ts';
import type { OrderProgress } from './ticket.ts';
import type { TicketContext } from './ticket-context.ts';

/** After this time an unanswered request is repeated over another connection. The server gives both the same outcome. */
const ATTEMPT_MS = 10_000;
/** How far the server lets a key's time be ahead. */
const KEY_AHEAD_MS = 2_000;
/** A deadline that ends this late shows that the thread was blocked, or that the machine slept. */
const BLOCKED_MS = 500;

export interface OrderOptions {
  /** The key that the app has given, or that an earlier run has stored. By default the order makes its own. */
  readonly key?: string | undefined;
  /** True if the app has given the key: another request may have used it first. */
  readonly isGiven?: boolean;
  /** How long after the first use of its key the order can be sent; undefined for the default. */
  readonly maxWaitMs?: number | undefined;
}

export interface SearchOptions {
  /** How long the outcome is sought. In the second half the order is not sent any more: its key is closed. */
  readonly withinMs: number;
  /** How long after the first use of its key the order can be sent. */
  readonly maxWaitMs: number;
  readonly onProgress?: (progress: OrderProgress) => void;
}

/** A search for the outcome. An order of an earlier run of the app has no input, so it is not sent again. */
interface Search extends SearchOptions {
  readonly placed: Placed | null;
  readonly deadline: Deadline;
  readonly connection: OrderConnection;
}

/** The end of a search. */
export interface Found {
  readonly outcome: OrderOutcome;
  /** Whether a later tap needs another key, because the order was certainly not placed, and never will be with this one. */
  readonly isKeyUsedUp: boolean;
}

/**
 * One order under one key. A search takes these steps:
 *
 *     sending ──► asking ──► closing
 *
 * - `sending`: no request with the order has left. An error ends the search: the order is unsent.
 * - `asking`: a request may have left (`isInDoubt`), so it is repeated under the same key. The server answers a repeat with
 *   the outcome of the first. If the server says that the request did nothing, the order is back at `sending`.
 * - `closing`: the order must not be sent any more, so its key is closed: the server then refuses every order with the key.
 *   An error ends the search: the order is unknown.
 *
 * In each step an outcome from the server ends the search. If the server refuses the key of the very first request because of
 * its time, the order gets another key.
 */
export class Order {
  readonly maxWaitMs: number | undefined;
  readonly #context: TicketContext;
  readonly #isGiven: boolean;
  /** Whether this order makes its keys. */
  readonly #isOwn: boolean;
  #key: string;
  /** Whether the key is to be sent. It is not before it has the server's time, nor after the server has refused that time. */
  #isUsable: boolean;
  /** How many requests with the key have left in this run of the app. */
  #requests = 0;
  readonly #dates: KeyDates;
  readonly #entry: KeyEntry;
  #step: OrderProgress = 'sending';
  #isInDoubt: boolean;
  /** The digest of the input that belongs to the key; null while the key has none. */
  #digest: string | null = null;
  /** The sign-in for which the order is placed. Null before the first tap, and again after a tap that sent nothing. */
  #signIn: SignIn | null = null;
  /** The sign-in of the last tap, which stays known if nothing was sent. */
  #owner: SignIn | null = null;
  /** The login that the client knew at the tap. */
  #knownLogin: string | null = null;

  constructor(context: TicketContext, { key, isGiven = false, maxWaitMs }: OrderOptions) {
    const { environment } = context.core;
    this.maxWaitMs = waitOf(maxWaitMs);
    this.#context = context;
    this.#isGiven = isGiven;
    this.#isInDoubt = isGiven;
    this.#isOwn = key === undefined;
    this.#isUsable = !this.#isOwn;
    this.#dates = new KeyDates(context.core);
    this.#entry = new KeyEntry(context);
    this.#key = key ?? orderKey(environment.randomId(), 0);
    this.#makeKey(this.#currentTime);
  }

  /** The order of a key that was stored in an earlier run of the app. */
  static ofFormerRun(context: TicketContext, account: string, stored: StoredKey): Order {
    const order = new Order(context, stored);
    // If the entry cannot be read, no input counts as the same.
    order.#digest = stored.digest ?? '';
    order.#belongsTo(account);
    order.#isInDoubt = true;
    order.#dates.adopt(stored.made);
    order.#entry.adopt(account, stored);
    return order;
  }

  /** Changes before the first request if the server's time was unknown, and after that request if its time is refused. */
  get key(): string {
    return this.#key;
  }

  /** Whether a request without a known outcome may have left the device. */
  get isInDoubt(): boolean {
    return this.#isInDoubt;
  }

  get isDurable(): boolean {
    return this.#entry.isDurable;
  }

  /** The login for which the order is placed. Null before the first attempt knows it, and if nothing was sent. */
  get account(): string | null {
    return this.#signIn?.login ?? null;
  }

  /** The login of the order's owner; null while that login is unknown. */
  get login(): string | null {
    return this.owner?.login ?? this.#knownLogin;
  }

  get owner(): SignIn | null {
    return this.#owner;
  }

  /** When the order was first placed, by the wall clock, in ISO 8601. */
  get sentAt(): string {
    const sentMs = this.#dates.usedAt ?? this.#entry.usedAt ?? this.#context.core.environment.now();
    return new Date(sentMs).toISOString();
  }

  /** Whether the key belongs to another input. */
  belongsToOtherInput(placed: Placed | null): boolean {
    return this.#digest !== null && this.#digest !== placed?.digest(this.key);
  }

  /** Notes the sign-in of the tap. The owner of an order that is placed again stays the same. */
  noteOwner(former?: SignIn | null): void {
    const { core } = this.#context;
    this.#owner = this.#signIn ?? former ?? core.signIn;
    this.#knownLogin = core.login;
  }

  /** Notes the tap, before anything is awaited. */
  begin(placed: Placed | null, former?: SignIn | null): void {
    this.#makeKey(this.#currentTime);
    this.#noteKey(placed);
    this.#entry.beginUse();
    this.noteOwner(former);
    this.#signIn = this.#owner;
    this.#dates.begin();
  }

  /** Places the order, or asks for its outcome. It never rejects. */
  async place(placed: Placed | null, options: SearchOptions): Promise<Found> {
    const found = await this.seek(placed, options);
    const { outcome, isKeyUsedUp } = found;
    if (outcome.status === 'unknown') this.#context.underWay.delete(this.key);
    else if (outcome.status === 'unsent' && !isKeyUsedUp) this.#endUnsent();
    else this.settle(outcome);
    return found;
  }

  /** Seeks the outcome. It never rejects: without an answer the order is unsent, or unknown if it is in doubt. */
  async seek(placed: Placed | null, options: SearchOptions): Promise<Found> {
    const { core, disposal } = this.#context;
    const { environment } = core;
    const { withinMs } = options;
    const [startedAt, startedUp] = [environment.now(), environment.uptime()];
    const within = (ms: number, seek: (search: Search) => Promise<OrderOutcome>) =>
      withinTime(environment, ms, disposal, (deadline) =>
        seek({ ...options, placed, deadline, connection: new OrderConnection(core) }),
      );
    try {
      return fromServer(await within(withinMs, (search) => this.#run(search)));
    } catch (thrown) {
      const error = disposal.aborted ? disposedError() : asTradingGraphError(thrown);
      const elapsedMs = Math.max(environment.now() - startedAt, environment.uptime() - startedUp);
      // A blocked thread may have missed the server's answers, so the key is closed after all.
      if (this.#isInDoubt && !disposal.aborted && elapsedMs - withinMs >= BLOCKED_MS) {
        const known = await within(ATTEMPT_MS, (search) => this.#close(search)).catch(() => null);
        if (known !== null) return fromServer(known);
      }
      const outcome = this.#failedOutcome(error);
      const isKeyUsedUp = outcome.status === 'unsent' && needsOtherKey(error);
      return { outcome, isKeyUsedUp };
    }
  }

  /** Keeps the outcome until the app has had time to show it. */
  settle(outcome: Settled): void {
    this.#isInDoubt = false;
    fireAndForget(this.#entry.end(this.key, outcome));
  }

  /** Deletes the order's entry in the storage. Rejects if the storage fails. */
  forget(): Promise<void> {
    return this.#entry.forget();
  }

  #failedOutcome(error: TradingGraphError): OrderOutcome {
    const { key: idempotencyKey, sentAt } = this;
    if (!this.#isInDoubt) return { status: 'unsent', idempotencyKey, error };
    return { status: 'unknown', idempotencyKey, sentAt, message: null, error };
  }

  /**
   * Nothing was sent: the form can be corrected, or be sent by another user. Its next tap uses the same key, so no outcome is
   * stored: another tab would take it for final, and delete the entry.
   */
  #endUnsent(): void {
    fireAndForget(this.#entry.end(this.key));
    this.#digest = null;
    this.#signIn = null;
    this.#dates.reset();
    this.#entry.reset();
  }

  #belongsTo(login: string): void {
    this.#signIn = { login };
    this.#owner = this.#signIn;
  }

  /** Takes the steps until the server answers with an outcome. Throws the last error if there is none. */
  async #run(search: Search): Promise<OrderOutcome> {
    const { deadline, connection, onProgress } = search;
    const { environment } = this.#context.core;
    let refusedTokens = 0;
    /** The last failure that says more than a time-out. */
    let reason: TradingGraphError | null = null;
    this.#step = 'sending';
    for (let failures = 0; ; failures += 1) {
      const wasInDoubt = this.#isInDoubt;
      try {
        const step = this.#nextStep(search, failures);
        this.#step = step;
        const report = () => callApp(environment, () => onProgress?.(step));
        fireAndForget(Promise.resolve().then(report));
        if (step === 'closing') return await this.#close(search);
        const outcome = await this.#attempt(search);
        return wasInDoubt ? ofAllRequests(outcome, this.sentAt) : outcome;
      } catch (thrown) {
        const failure = asTradingGraphError(thrown);
        const whyDead = connection.takeError();
        // The error of a dead connection says more than a time-out.
        const error = isLate(failure) ? (whyDead ?? failure) : failure;
        // An earlier failure is dropped once the first request has left, because it says nothing about that request.
        if (!isLate(error)) reason = error;
        else if (this.#isInDoubt && !wasInDoubt) reason = null;
        if (error.code === 'UNAUTHENTICATED') refusedTokens += 1;
        const changesKey = this.#mayChangeKey && needsOtherKey(error);
        if (changesKey) this.#isUsable = false;
        // One token may have expired on its way. After a second refused token a third is not tried.
        const isLast = (isLasting(error) && !changesKey) || refusedTokens > 1;
        // An order in doubt is not given up: its key can still be closed when the order must not be sent any more.
        const isAsking = this.#isInDoubt && this.#step !== 'closing';
        const canClose = isAsking && mayClose(error);
        if (isLast && !canClose) throw error;
        // Nothing has left. The client must not send the order later, without a tap, when the network is back.
        if (!this.#isInDoubt && (neverLeft(error) || this.#isOffline)) throw error;
        const pause = pauseMs(error, failures, environment.random());
        const leftMs = this.#leftForRepeatMs(search);
        if (!isAsking && pause >= leftMs) throw reason ?? error;
        if (isLast) this.#step = 'closing';
        await deadline.sleep(isLast ? 0 : Math.min(pause, leftMs));
        if (deadline.remainingMs === 0) throw reason ?? error;
      }
    }
  }

  /** The step is chosen before each attempt: a pause may last hours, and the clock may be changed meanwhile. */
  #nextStep(search: Search, failures: number): OrderProgress {
    if (this.#step === 'closing') return 'closing';
    const isOver = this.#leftMs(search) === 0;
    // For an order of an earlier run the client first asks.
    if (isOver && (search.placed ? this.#isInDoubt : failures > 0)) return 'closing';
    return this.#isInDoubt ? 'asking' : 'sending';
  }

  /** The time in which the order can still be sent. */
  #leftMs({ deadline, maxWaitMs, withinMs }: Search): number {
    // The second half of the search is for closing the key.
    const leftOfFirstHalfMs = deadline.remainingMs - withinMs / 2;
    return Math.max(0, Math.min(this.#dates.leftMs(maxWaitMs), leftOfFirstHalfMs));
  }

  /** The time in which another attempt can begin: to send the order, to ask for its outcome, or to close its key. */
  #leftForRepeatMs(search: Search): number {
    return this.#step === 'closing' ? search.deadline.remainingMs : this.#leftMs(search);
  }

  /** Sends the order, or only asks if its input is unknown. */
  #attempt(search: Search): Promise<OrderOutcome> {
    const { placed, deadline, connection, maxWaitMs } = search;
    const { core } = this.#context;
    if (!this.#isInDoubt) this.#throwIfOffline();
    // A request may wait for the network. It is aborted when the order must not be sent any more.
    const leftMs = placed ? this.#leftMs(search) : deadline.remainingMs;
    return connection.run(Math.min(ATTEMPT_MS, leftMs), deadline.signal, async (time, exchange) => {
      const account = await this.#checkAccount(time, exchange);
      if (placed === null) return this.#ask(account, time, exchange);
      const { serverClock } = core;
      // Without the server's time, or with a time from before a sleep, the key would have no time or a wrong one. Over a
      // WebSocket a ping does not help after a sleep, because its answer has no date.
      const needsTime = serverClock.now() === null || (serverClock.isBehind && !exchange);
      const isDated = this.#isUsable && this.#dates.made !== null && !this.#isGiven;
      if (needsTime && !isDated)
        await time.race(core.request(PING, {}, { repeats: false, signal: time.signal }));
      this.#dates.fix();
      this.#context.underWay.delete(this.key);
      this.#makeKey(serverClock.now());
      this.#noteKey(placed);
      // The key is stored before the order is sent: otherwise the next run of the app would not know of the order.
      await this.#store(account, maxWaitMs, time);
      return this.#send({ ...search, placed }, account, time, exchange);
    });
  }

  /** The login that is signed in. Throws if the order's sign-in has another login. */
  async #checkAccount(time: Deadline, exchange: Exchanger | undefined): Promise<string> {
    const { core } = this.#context;
    const signIn = this.#signIn ?? core.signIn;
    const current = await time.race(core.account(time.signal, exchange));
    if (!isSame(signIn, core.signIn, current))
      throw signedOutError('Another account is signed in.');
    this.#belongsTo(current);
    return current;
  }

  #store(account: string, maxWaitMs: number, time: Deadline): Promise<void> {
    const stored: StoredKey = {
      key: this.key,
      digest: this.#digest,
      at: this.#dates.usedAt,
      made: this.#dates.made,
      sendBefore: this.#dates.sendBefore(maxWaitMs),
      maxWaitMs: this.maxWaitMs,
    };
    const isNeeded = () => this.#context.underWay.has(this.key) || this.#isInDoubt;
    return this.#entry.write(account, stored, time, isNeeded);
  }

  async #ask(account: string, time: Deadline, exchange?: Exchanger): Promise<OrderOutcome> {
    const own = { account, exchange, repeats: false };
    const outcome = await askOutcome(this.#context, PLACED_ORDER, this.key, time, own);
    // The order may not have arrived yet, or another tab may not have sent it yet.
    if (outcome === null) throw networkError('The server has no record of this order yet.');
    return outcome;
  }

  async #send(
    search: Search & { readonly placed: Placed },
    account: string,
    time: Deadline,
    exchange?: Exchanger,
  ): Promise<OrderOutcome> {
    const { placed, maxWaitMs } = search;
    const { core } = this.#context;
    const wasInDoubt = this.#isInDoubt;
    const leaving = () => {
      // Timers stand still while a phone sleeps, so the clocks are read once more.
      if (this.#leftMs(search) === 0) throw outOfTime();
      if (!wasInDoubt) this.#throwIfOffline();
      this.#isInDoubt = true;
      this.#requests += 1;
    };
    const sendBefore = this.#dates.sendBefore(maxWaitMs);
    const input = { ...placed.input, idempotencyKey: this.key, sendBefore };
    const options = { account, exchange, signal: time.signal, leaving, repeats: false };
    try {
      const sending = core.request(placed.operation, { input }, options);
      const outcome = readAnswer(await time.race(sending), this.key);
      if (outcome === null) throw protocolError('The answer has no outcome.');
      return outcome;
    } catch (thrown) {
      const error = asTradingGraphError(thrown);
      const resends = !exchange && mayResend(core.environment);
      // This request did nothing. An earlier one that was lost may still arrive: then the order stays in doubt.
      if (!mayHaveTraded(error, resends)) this.#isInDoubt = wasInDoubt;
      // The app's key belongs to another order, or its time is ahead, so the server does not place this one. An earlier request
      // that was lost may still arrive when the time is no longer ahead.
      if (this.#isGiven && isRefusedKey(error))
        this.#isInDoubt = this.#requests > 1 && this.#isAhead;
      throw error;
    }
  }

  /** Closes the key instead of sending the order: the time to send it is over, or the server refuses a repeat. */
  async #close({ deadline, connection }: Search): Promise<OrderOutcome> {
    // The account of an order in doubt is known.
    const account = this.account as string;
    const ms = Math.min(ATTEMPT_MS, deadline.remainingMs);
    const outcome = await connection.run(ms, deadline.signal, (time, exchange) =>
      askOutcome(this.#context, VOID_ORDER, this.key, time, { account, exchange }),
    );
    if (outcome === null) throw protocolError('The answer has no outcome.');
    return ofAllRequests(outcome, this.sentAt);
  }

  /**
   * Gives the order a key with the server's time, unless it has one. The time is never later than the first request with the
   * key, and never that of this device's clock.
   */
  #makeKey(serverMs: number | null): void {
    if (this.#isUsable || serverMs === null) return;
    this.#key = orderKey(this.#context.core.environment.randomId(), serverMs);
    this.#isUsable = true;
    this.#requests = 0;
  }

  #noteKey(placed: Placed | null): void {
    this.#context.underWay.add(this.key);
    if (placed !== null) this.#digest = placed.digest(this.key);
  }

  /** Whether the key's time may be ahead of the server's by more than the server allows. */
  get #isAhead(): boolean {
    return (
      Number(timeOfKey(this.key)) > Number(this.#context.core.serverClock.now()) + KEY_AHEAD_MS
    );
  }

  /** Whether only one request with the key has left, and has placed nothing. */
  get #mayChangeKey(): boolean {
    return this.#isOwn && !this.#isInDoubt && this.#requests === 1;
  }

  /** The server's time; null if it is unknown, or would be too early because this machine has slept. */
  get #currentTime(): number | null {
    const { serverClock } = this.#context.core;
    return serverClock.isBehind ? null : serverClock.now();
  }

  get #isOffline(): boolean {
    return this.#context.core.environment.lifecycle.isOnline === false;
  }

  #throwIfOffline(): void {
    if (this.#isOffline) throw offlineError();
  }
}

function fromServer(outcome: OrderOutcome): Found {
  return { outcome, isKeyUsedUp: outcome.status === 'unsent' };
}

/** Whether the platform may send a request twice after a broken connection. Node's own `fetch` does not. */
function mayResend({ isServer, resends }: Environment): boolean {
  const { process }: { process?: { versions?: { undici?: string } } } = Object(globalThis);
  const hasOwnFetchOfNode = Boolean(isServer && process?.versions?.undici);
  return resends ?? !hasOwnFetchOfNode;
}

/** The given wait; undefined if it is no number. It is finite, because the stored JSON would turn infinity into null. */
function waitOf(ms: number | undefined): number | undefined {
  return ms == null || Number.isNaN(Number(ms)) ? undefined : Math.min(ms, MAX_MS);
}
