import type { Core, OwnRequestOptions, Result } from '../core.ts';
import { TradingGraphError } from '../errors.ts';
import { networkError } from '../request/failures.ts';
import { neverLeft } from '../request/never-left.ts';
import { asError } from './as-error.ts';
import { askOutcome } from './ask-outcome.ts';
import { canonicalInput } from './canonical-input.ts';
import { checkAccount } from './check-account.ts';
import { Deadline } from './deadline.ts';
import { deleteKey } from './delete-key.ts';
import { digestOf } from './digest.ts';
import { disposed } from './disposed.ts';
import { ageOf, elapsedMs, type KeyStamp, stampNow } from './key-age.ts';
import { PLACE_LIMIT_ORDER, PLACE_ORDER } from './operations.ts';
import type { LimitOrderInput, OrderInput } from './order-input.ts';
import { isAtMarket, kindOf, withoutKind } from './order-kind.ts';
import { type OrderAnswer, type OrderOutcome, readAnswer } from './outcome.ts';
import { isLasting, mayHaveTraded, pauseMs } from './repeat-rules.ts';
import type { StoredKeys } from './stored-keys.ts';
import type { PlaceOptions, Ticket } from './ticket.ts';

const WITHIN_MS = 30_000;
/** A request without an answer is then sent over a new one: the server joins both. */
const ATTEMPT_MS = 10_000;
/** The user has seen a price, which is another one by then. */
const MARKET_WAIT_MS = 5_000;
/** A storage is not waited for longer where the app does without it. */
const VOLATILE_AFTER_MS = 1_000;
const LONGEST_MS = 2 ** 31 - 1;

/** The state that the tickets of one client share. */
export interface TicketContext {
  readonly core: Core;
  readonly keys: StoredKeys | null;
  readonly allowVolatile: boolean;
  /** Aborted when the client is disposed. */
  readonly disposal: AbortSignal;
  /** The keys that are being placed at present. */
  readonly underWay: Set<string>;
}

interface WaitOption {
  readonly maxWaitMs?: number | undefined;
}

/** A key that was used in an earlier run of the app. */
export interface UsedKey extends WaitOption {
  readonly account: string;
  /** Null where it cannot be read: then no input is known to be the same. */
  readonly digest: string | null;
  readonly stamp: KeyStamp;
}

interface Order {
  readonly digest: string;
  readonly maxWaitMs: number;
  send(options: OwnRequestOptions): Promise<Result<OrderAnswer>>;
}

export class OrderTicket implements Ticket {
  readonly idempotencyKey: string;
  readonly #context: TicketContext;
  readonly #maxWaitMs: number | undefined;
  /** Whether its own key is in storage; null while nothing was stored. */
  #isStored: boolean | null = null;
  /** The account and the time of the first attempt; null before it. */
  #account: string | null = null;
  #stamp: KeyStamp | null = null;
  /** Of the input that this ticket stands for; null while it may be any. */
  #digest: string | null = null;
  /** Whether a request whose outcome is not known has been sent. */
  #isInDoubt = false;
  #running: Promise<OrderOutcome> | null = null;
  #final: OrderOutcome | null = null;

  constructor(context: TicketContext, key: string, used: UsedKey | WaitOption) {
    this.#context = context;
    this.idempotencyKey = key;
    this.#maxWaitMs = waitOf(used.maxWaitMs);
    if (!('stamp' in used)) return;
    this.#isStored = true;
    this.#account = used.account;
    this.#stamp = used.stamp;
    this.#digest = used.digest ?? '';
    this.#isInDoubt = true;
  }

  get isDurable(): boolean {
    const { keys } = this.#context;
    return keys !== null && (this.#isStored ?? !keys.isRefusing);
  }

  get account(): string | null {
    return this.#account;
  }

  place(input: OrderInput, options?: PlaceOptions): Promise<OrderOutcome> {
    return this.#place('order', input, options, (copy: OrderInput, own) =>
      this.#context.core.request(
        PLACE_ORDER,
        { input: { ...copy, kind: kindOf(copy), idempotencyKey: this.idempotencyKey } },
        own,
      ),
    );
  }

  placeLimit(input: LimitOrderInput, options?: PlaceOptions): Promise<OrderOutcome> {
    return this.#place('limit order', input, options, (copy: LimitOrderInput, own) =>
      this.#context.core.request(
        PLACE_LIMIT_ORDER,
        { input: { ...copy, idempotencyKey: this.idempotencyKey } },
        own,
      ),
    );
  }

  async #place<Input extends object>(
    kind: string,
    input: Input,
    { withinMs = WITHIN_MS }: PlaceOptions = {},
    send: (copy: Input, own: OwnRequestOptions) => Promise<Result<OrderAnswer>>,
  ): Promise<OrderOutcome> {
    let text: string;
    try {
      text = canonicalInput(input);
    } catch (error) {
      return this.#unsent(asError(error));
    }
    // The key makes the digests of two equal orders differ, so that storage does not show them to be equal.
    const digest = digestOf(`${this.idempotencyKey} ${kind} ${withoutKind(text)}`);
    if (this.#digest !== null && this.#digest !== digest) return this.#unsent(usedOtherwise());
    if (this.#final !== null) return this.#final;
    this.#digest = digest;
    const order: Order = {
      digest,
      maxWaitMs:
        this.#maxWaitMs ?? (kind === 'order' && isAtMarket(text) ? MARKET_WAIT_MS : LONGEST_MS),
      send: (own) => send(JSON.parse(text) as Input, { ...own, repeats: false }),
    };
    this.#running ??= this.#run(order, Number.isFinite(withinMs) ? withinMs : WITHIN_MS);
    return this.#running;
  }

  async #run(order: Order, withinMs: number): Promise<OrderOutcome> {
    const { core, disposal, underWay } = this.#context;
    const deadline = new Deadline(core.environment, withinMs, disposal);
    underWay.add(this.idempotencyKey);
    // The user waits from the tap on, not from when there is somebody to send it.
    this.#stamp ??= stampNow(core.environment);
    try {
      return await this.#conclude(await this.#repeat(order, deadline));
    } catch (error) {
      return await this.#conclude(disposal.aborted ? disposed() : asError(error));
    } finally {
      deadline.close();
      underWay.delete(this.idempotencyKey);
      this.#running = null;
      // Where nothing was sent the form may be corrected, or be sent by another user.
      if (this.#final === null && !this.#isInDoubt) {
        this.#digest = null;
        this.#account = null;
        this.#stamp = null;
        this.#isStored = null;
      }
    }
  }

  /** The server's outcome. Throws the last error where there is none. */
  async #repeat(order: Order, deadline: Deadline): Promise<OrderOutcome> {
    const { environment } = this.#context.core;
    let refusedTokens = 0;
    for (let failures = 0; ; failures += 1) {
      try {
        // Before each attempt: a pause may last hours, and the clock may be changed in it.
        const isAsked =
          this.#isInDoubt && (this.#leftMs(order) === 0 || (await this.#isStale(deadline)));
        return await (isAsked ? this.#ask(deadline) : this.#attempt(order, deadline));
      } catch (thrown) {
        const error = asError(thrown);
        if (error.code === 'UNAUTHENTICATED') refusedTokens += 1;
        // One token may have run out on its way; a second one that is refused was not worth a third.
        if (isLasting(error) || refusedTokens > 1) throw error;
        // Nobody wants an order to go out by itself when the network is back.
        if (!this.#isInDoubt && (neverLeft(error) || this.#isOffline)) throw error;
        const pause = pauseMs(error, failures, environment.random());
        const leftMs = this.#isInDoubt ? LONGEST_MS : this.#leftMs(order);
        if (pause >= Math.min(deadline.remainingMs, leftMs)) throw error;
        await deadline.sleep(pause);
        if (deadline.isOver) throw error;
      }
    }
  }

  async #attempt(order: Order, deadline: Deadline): Promise<OrderOutcome> {
    const { core, disposal } = this.#context;
    if (disposal.aborted) throw disposed();
    if (!this.#isInDoubt && this.#isOffline) throw networkError('This device is offline.');
    // A request that waits somewhere for the network is ended with the time in which it may leave.
    const within = Math.min(ATTEMPT_MS, deadline.remainingMs, this.#leftMs(order));
    const attempt = new Deadline(core.environment, within, deadline.signal);
    try {
      const account = await checkAccount(core, this.#account, attempt);
      this.#account = account;
      await this.#store(account, order, attempt);
      // Storing takes time, in which the user may have changed.
      await checkAccount(core, account, attempt);
      return await this.#send(order, account, attempt);
    } finally {
      attempt.close();
    }
  }

  async #send(order: Order, account: string, attempt: Deadline): Promise<OrderOutcome> {
    const wasInDoubt = this.#isInDoubt;
    const leaving = () => {
      // Timers stand still while a phone sleeps, so that the clocks are asked once more.
      if (attempt.isOver || this.#leftMs(order) === 0) throw outOfTime();
      if (!wasInDoubt && this.#isOffline) throw networkError('This device is offline.');
      this.#isInDoubt = true;
    };
    try {
      const sending = order.send({ account, signal: attempt.signal, leaving });
      const result = await attempt.race(sending);
      const outcome = readAnswer(result, this.idempotencyKey);
      if (outcome !== null) return outcome;
    } catch (thrown) {
      const error = asError(thrown);
      // An earlier request that was lost may still arrive, so that its doubt stays.
      if (!mayHaveTraded(error)) this.#isInDoubt = wasInDoubt;
      throw error;
    }
    throw new TradingGraphError('The answer has no outcome.', {
      code: 'PROTOCOL',
      retryable: false,
    });
  }

  /** Keeps the key before anything is sent: an order that nobody remembers must not exist. */
  async #store(account: string, { digest }: Order, attempt: Deadline): Promise<void> {
    const { core, keys, allowVolatile } = this.#context;
    if (keys === null || (allowVolatile && this.#isStored === false)) return;
    const at = this.#stamp?.at ?? null;
    const entry = { key: this.idempotencyKey, digest, at, maxWaitMs: this.#maxWaitMs };
    const storing = keys.add(account, entry);
    let isLate = false;
    storing.then(
      () => {
        if (isLate && !this.#isInDoubt && this.#running === null) this.#delete(account);
      },
      () => {},
    );
    const patienceMs = allowVolatile ? VOLATILE_AFTER_MS : attempt.remainingMs;
    const patience = new Deadline(core.environment, patienceMs, attempt.signal);
    try {
      await patience.race(storing);
      this.#isStored = true;
    } catch (cause) {
      isLate = true;
      // It was stored before: the time was over, and the storage is not to blame.
      if (this.#isStored && attempt.isOver) throw outOfTime();
      this.#isStored ??= false;
      if (allowVolatile) return;
      const message = 'The order was not sent, because this device cannot keep its key.';
      throw new TradingGraphError(message, { code: 'STORAGE', retryable: true, cause });
    } finally {
      patience.close();
    }
  }

  get #isOffline(): boolean {
    return this.#context.core.environment.lifecycle.isOnline === false;
  }

  /** The time in which the order may still be sent. */
  #leftMs({ maxWaitMs }: Order): number {
    const { environment } = this.#context.core;
    return this.#stamp === null ? 0 : Math.max(0, maxWaitMs - elapsedMs(this.#stamp, environment));
  }

  async #isStale(deadline: Deadline): Promise<boolean> {
    const { core, keys } = this.#context;
    if (this.#stamp === null) return false;
    // A key that was never stored has nothing in storage to be compared with.
    const isKept = keys !== null && this.#isStored !== false;
    const latest = isKept ? await deadline.race(keys.latest()) : -Infinity;
    return ageOf(this.#stamp, core.environment, latest) !== 'fresh';
  }

  /** Sends nothing: the time for that is over, or the server may have forgotten the key and would take it for a new order. */
  async #ask(deadline: Deadline): Promise<OrderOutcome> {
    const { core } = this.#context;
    const within = Math.min(ATTEMPT_MS, deadline.remainingMs);
    const attempt = new Deadline(core.environment, within, deadline.signal);
    try {
      const account = await checkAccount(core, this.#account, attempt);
      const outcome = await askOutcome(core, { account, key: this.idempotencyKey }, attempt);
      if (outcome !== null) return outcome;
    } finally {
      attempt.close();
    }
    const message =
      'The server has no record of this order. It is too late to send it again, or the clock was changed.';
    throw new TradingGraphError(message, { code: 'KEY_EXPIRED', retryable: false });
  }

  async #conclude(known: OrderOutcome | TradingGraphError): Promise<OrderOutcome> {
    if (isOutcome(known)) {
      if (known.status === 'unknown') return known;
      this.#final = known;
      await this.#delete(this.#account);
      return known;
    }
    if (!this.#isInDoubt) {
      await this.#delete(this.#account);
      return this.#unsent(known);
    }
    return {
      status: 'unknown',
      idempotencyKey: this.idempotencyKey,
      sentAt: new Date(this.#stamp?.at ?? this.#context.core.environment.now()).toISOString(),
      message: null,
      error: known,
    };
  }

  async #delete(account: string | null): Promise<void> {
    const { core, keys } = this.#context;
    if (keys === null || account === null) return;
    await deleteKey(core.environment, keys, { account, key: this.idempotencyKey });
  }

  #unsent(error: TradingGraphError): OrderOutcome {
    return { status: 'unsent', idempotencyKey: this.idempotencyKey, error };
  }
}

function isOutcome(known: OrderOutcome | TradingGraphError): known is OrderOutcome {
  return 'status' in known;
}

function usedOtherwise(): TradingGraphError {
  return new TradingGraphError('This ticket stands for another order already.', {
    code: 'BAD_USER_INPUT',
    retryable: false,
    extensions: { argument: 'input.idempotencyKey' },
  });
}

function outOfTime(): TradingGraphError {
  return new TradingGraphError('The order could not be sent in time.', {
    code: 'NETWORK',
    retryable: true,
  });
}

function waitOf(ms: number | undefined): number | undefined {
  return ms === undefined || Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST_MS);
}
