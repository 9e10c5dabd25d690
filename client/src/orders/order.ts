import { callApp } from '../call-app.ts';
import type { Environment } from '../environment.ts';
import { TradingGraphError } from '../errors.ts';
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
import { askOutcome, closeKey } from './ask-outcome.ts';
import { KeyDates } from './key-dates.ts';
import { KeyEntry, outOfTime } from './key-entry.ts';
import { PLACED_ORDER } from './operations.ts';
import { OrderConnection } from './order-connection.ts';
import { type OrderOutcome, readAnswer, type Settled, unsentCode } from './outcome.ts';
import type { Placed } from './placed.ts';
import { isKeyTaken, isLasting, mayClose, mayHaveTraded, pauseMs } from './repeat-rules.ts';
import type { StoredKey } from './stored-keys.ts';
import type { OrderProgress } from './ticket.ts';
import type { TicketContext } from './ticket-context.ts';

/** After this time an unanswered request is repeated over another connection. The server gives both the same outcome. */
const ATTEMPT_MS = 10_000;
/** A deadline that ends this late shows that the thread was blocked, or that the machine slept. */
const BLOCKED_MS = 500;

export interface OrderOptions {
  /** True if the app has given the key: another request may have used it first, at an unknown time. */
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
  /** Whether the outcome is an answer of the server. */
  readonly isFromServer: boolean;
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
 * In each step an outcome from the server ends the search. The exception is a refusal that says nothing about earlier
 * requests: then the key is closed.
 */
export class Order {
  readonly key: string;
  readonly maxWaitMs: number | undefined;
  readonly #context: TicketContext;
  readonly #isGiven: boolean;
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

  constructor(context: TicketContext, key: string, options: OrderOptions) {
    this.key = key;
    this.maxWaitMs = waitOf(options.maxWaitMs);
    this.#context = context;
    this.#isGiven = options.isGiven === true;
    this.#isInDoubt = this.#isGiven;
    this.#dates = new KeyDates(context.core);
    this.#entry = new KeyEntry(context, key);
    if (this.#isGiven) this.#dates.leaveOutKeyMade();
  }

  /** The order of a key that was stored in an earlier run of the app. */
  static ofFormerRun(context: TicketContext, account: string, stored: StoredKey): Order {
    const order = new Order(context, stored.key, stored);
    // If the entry cannot be read, no input counts as the same.
    order.#digest = stored.digest ?? '';
    order.#belongsTo(account);
    order.#isInDoubt = true;
    if (stored.unsent) {
      // The server does not know the key, unless another tab has sent the order since. So the key counts as made now.
      order.#dates.begin();
      order.#dates.date();
      order.#dates.leaveOutKeyMade();
    } else order.#dates.adopt(stored.made, stored.keyMade);
    order.#entry.adopt(account, stored);
    return order;
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
    if (placed !== null) this.#digest = placed.digest(this.key);
    this.#context.underWay.add(this.key);
    this.#entry.beginUse();
    this.noteOwner(former);
    this.#signIn = this.#owner;
    this.#dates.begin();
  }

  /** Places the order, or asks for its outcome. It never rejects. */
  async place(placed: Placed | null, options: SearchOptions): Promise<Found> {
    const found = await this.seek(placed, options);
    const { outcome, isFromServer } = found;
    if (outcome.status === 'unknown') this.#context.underWay.delete(this.key);
    else this.settle(outcome);
    // Nothing was sent: the form can be corrected, or be sent by another user.
    if (outcome.status === 'unsent' && !isFromServer) this.#reset();
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
      return { outcome: await within(withinMs, (search) => this.#run(search)), isFromServer: true };
    } catch (thrown) {
      const error = disposal.aborted ? disposedError() : asTradingGraphError(thrown);
      const elapsedMs = Math.max(environment.now() - startedAt, environment.uptime() - startedUp);
      // A blocked thread may have missed the server's answers, so the key is closed after all.
      if (this.#isInDoubt && !disposal.aborted && elapsedMs - withinMs >= BLOCKED_MS) {
        const known = await within(ATTEMPT_MS, (search) => this.#close(search)).catch(() => null);
        if (known !== null) return { outcome: known, isFromServer: true };
      }
      return { outcome: this.#failedOutcome(error), isFromServer: false };
    }
  }

  /** Keeps the outcome until the app has had time to show it. */
  settle(outcome: Settled): void {
    this.#isInDoubt = false;
    fireAndForget(this.#entry.settle(outcome));
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

  #reset(): void {
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
        if (coversAllRequests(outcome, wasInDoubt)) return outcome;
        this.#step = 'closing';
      } catch (thrown) {
        const failure = asTradingGraphError(thrown);
        const whyDead = connection.takeError();
        // The error of a dead connection says more than a time-out.
        const error = isLate(failure) ? (whyDead ?? failure) : failure;
        // An earlier failure is dropped once the first request has left, because it says nothing about that request.
        if (!isLate(error)) reason = error;
        else if (this.#isInDoubt && !wasInDoubt) reason = null;
        if (error.code === 'UNAUTHENTICATED') refusedTokens += 1;
        // One token may have expired on its way. After a second refused token a third is not tried.
        const isLast = isLasting(error) || refusedTokens > 1;
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
    const isFresh = this.#dates.age === 'fresh';
    // For an order of an earlier run the client first asks, and closes the key only if that can prove that nothing was sent.
    const mustClose = search.placed
      ? this.#isInDoubt && (isOver || !isFresh)
      : failures > 0 && isOver && isFresh;
    if (mustClose) return 'closing';
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
    const onlyAsks = search.placed === null && this.#dates.age !== 'fresh';
    const { remainingMs } = search.deadline;
    return this.#step === 'closing' || onlyAsks ? remainingMs : this.#leftMs(search);
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
      // Without the server's time, or with a time from before a sleep, the key would have no date or a wrong one. Over a
      // WebSocket a ping does not help after a sleep, because its answer has no date.
      const needsTime = serverClock.now() === null || (serverClock.isBehind && !exchange);
      if (this.#since === undefined && needsTime) {
        // Lets the next run of the app know that the order never left.
        await this.#store(account, maxWaitMs, time, true);
        await time.race(core.request(PING, {}, { repeats: false, signal: time.signal }));
      }
      // The key gets its date first: without it nothing could prove later that the order was not sent. The key is stored
      // before the order is sent: otherwise the next run of the app would not know of the order.
      this.#dates.fix();
      await this.#store(account, maxWaitMs, time, false);
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

  /** Stores the order's key, with the note that nothing has left if the order `isUnsent`. */
  #store(account: string, maxWaitMs: number, time: Deadline, isUnsent: boolean): Promise<void> {
    const stored: StoredKey = {
      key: this.key,
      digest: this.#digest,
      at: this.#dates.usedAt,
      made: this.#dates.made,
      keyMade: this.#dates.keyMade,
      sendBefore: this.#dates.sendBefore(maxWaitMs),
      maxWaitMs: this.maxWaitMs,
      unsent: isUnsent || undefined,
    };
    const isNeeded = () => this.#context.underWay.has(this.key) || this.#isInDoubt;
    return this.#entry.write(account, stored, time, isNeeded);
  }

  async #ask(account: string, time: Deadline, exchange?: Exchanger): Promise<OrderOutcome> {
    const own = { account, exchange, repeats: false };
    const outcome = await askOutcome(this.#context, PLACED_ORDER, { key: this.key }, time, own);
    // If the key is not fresh (see KeyAge), this may only mean that the server has removed its record.
    const mayBeForgotten = outcome === null || outcome.status === 'unsent';
    if (mayBeForgotten && this.#dates.age !== 'fresh') throw forgottenError();
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
    };
    const dates = { sendBefore: this.#dates.sendBefore(maxWaitMs), keyMade: this.#dates.keyMade };
    const input = { ...placed.input, idempotencyKey: this.key, ...dates };
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
      // The app's key belongs to another order, so the server does not place this one.
      if (this.#isGiven && isKeyTaken(error)) this.#isInDoubt = false;
      throw error;
    }
  }

  /**
   * Closes the key instead of sending the order. Either the time to send it is over, or the server may have removed the
   * record of the key, and would treat a repeat as a new order.
   */
  async #close({ deadline, connection }: Search): Promise<OrderOutcome> {
    // The account of an order in doubt is known.
    const account = this.account as string;
    const asked = { key: this.key, since: this.#since };
    const ms = Math.min(ATTEMPT_MS, deadline.remainingMs);
    const outcome = await connection.run(ms, deadline.signal, (time, exchange) =>
      closeKey(this.#context, asked, time, { account, exchange }),
    );
    // The age is read after the answer, which has the server's time, because the device may have slept for hours.
    const isProved = outcome?.status !== 'unsent' || this.#dates.age === 'fresh';
    if (outcome === null || !isProved) throw forgottenError();
    return outcome;
  }

  /** The server knows of the order if its records reach back to this time; undefined if the key may have an earlier use. */
  get #since(): string | undefined {
    return this.#isGiven ? undefined : this.#dates.since;
  }

  get #isOffline(): boolean {
    return this.#context.core.environment.lifecycle.isOnline === false;
  }

  #throwIfOffline(): void {
    if (this.#isOffline) throw offlineError();
  }
}

/**
 * Whether the outcome holds for all requests of this order. A refusal may say nothing about earlier requests: another client
 * has closed the key, or only the repeat was refused. Then this client closes the key itself.
 */
function coversAllRequests(outcome: OrderOutcome, wasInDoubt: boolean): boolean {
  const code = unsentCode(outcome);
  if (code === null || code === 'SETTLED') return true;
  return code !== 'VOIDED' && !wasInDoubt;
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

function forgottenError(): TradingGraphError {
  const message = 'The server has no record of this order, and may have had one.';
  return new TradingGraphError(message, { code: 'KEY_EXPIRED', retryable: false });
}
