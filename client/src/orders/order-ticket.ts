import type { Core, Result } from '../core.ts';
import { TradingGraphError } from '../errors.ts';
import { asError } from './as-error.ts';
import { askOutcome } from './ask-outcome.ts';
import { canonicalInput } from './canonical-input.ts';
import { checkAccount } from './check-account.ts';
import { Deadline } from './deadline.ts';
import { deleteKey } from './delete-key.ts';
import { digestOf } from './digest.ts';
import { disposed } from './disposed.ts';
import { ageOf, type KeyStamp, stampNow } from './key-age.ts';
import { PLACE_LIMIT_ORDER, PLACE_ORDER } from './operations.ts';
import type { LimitOrderInput, OrderInput } from './order-input.ts';
import { type OrderAnswer, type OrderOutcome, readAnswer } from './outcome.ts';
import { isLasting, mayHaveTraded, pauseMs } from './repeat-rules.ts';
import type { StoredKeys } from './stored-keys.ts';
import type { PlaceOptions, Ticket } from './ticket.ts';

const WITHIN_MS = 30_000;
/** A request without an answer is then sent over a new one: the server joins both. */
const ATTEMPT_MS = 10_000;

/** The state that the tickets of one client share. */
export interface TicketContext {
  readonly core: Core;
  readonly keys: StoredKeys | null;
  /** Aborted when the client is disposed. */
  readonly disposal: AbortSignal;
  /** The keys that are being placed at present. */
  readonly underWay: Set<string>;
}

/** A key that was used in an earlier run of the app. */
export interface UsedKey {
  readonly account: string;
  /** Null where it cannot be read: then no input is known to be the same. */
  readonly digest: string | null;
  readonly stamp: KeyStamp;
}

interface Order {
  readonly digest: string;
  send(account: string, signal: AbortSignal): Promise<Result<OrderAnswer>>;
}

export class OrderTicket implements Ticket {
  readonly idempotencyKey: string;
  readonly isDurable: boolean;
  readonly #context: TicketContext;
  /** The account and the time of the first attempt; null before it. */
  #account: string | null = null;
  #stamp: KeyStamp | null = null;
  /** Of the input that this ticket stands for; null while it may be any. */
  #digest: string | null = null;
  /** Whether a request whose outcome is not known has been sent. */
  #isInDoubt = false;
  #running: Promise<OrderOutcome> | null = null;
  #final: OrderOutcome | null = null;

  constructor(context: TicketContext, key: string, used?: UsedKey) {
    this.#context = context;
    this.idempotencyKey = key;
    this.isDurable = context.keys !== null;
    if (used === undefined) return;
    this.#account = used.account;
    this.#stamp = used.stamp;
    this.#digest = used.digest ?? '';
    this.#isInDoubt = true;
  }

  get account(): string | null {
    return this.#account;
  }

  place(input: OrderInput, options?: PlaceOptions): Promise<OrderOutcome> {
    return this.#place('order', input, options, (copy: OrderInput, account, signal) =>
      this.#context.core.request(
        PLACE_ORDER,
        { input: { ...copy, kind: kindOf(copy), idempotencyKey: this.idempotencyKey } },
        { signal, account, repeats: false },
      ),
    );
  }

  placeLimit(input: LimitOrderInput, options?: PlaceOptions): Promise<OrderOutcome> {
    return this.#place('limit order', input, options, (copy: LimitOrderInput, account, signal) =>
      this.#context.core.request(
        PLACE_LIMIT_ORDER,
        { input: { ...copy, idempotencyKey: this.idempotencyKey } },
        { signal, account, repeats: false },
      ),
    );
  }

  async #place<Input extends object>(
    kind: string,
    input: Input,
    { withinMs = WITHIN_MS }: PlaceOptions = {},
    send: (copy: Input, account: string, signal: AbortSignal) => Promise<Result<OrderAnswer>>,
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
      send: (account, signal) => send(JSON.parse(text) as Input, account, signal),
    };
    this.#running ??= this.#run(order, Number.isFinite(withinMs) ? withinMs : WITHIN_MS);
    return this.#running;
  }

  async #run(order: Order, withinMs: number): Promise<OrderOutcome> {
    const { core, disposal, underWay } = this.#context;
    const deadline = new Deadline(core.environment, withinMs, disposal);
    underWay.add(this.idempotencyKey);
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
      }
    }
  }

  /** The server's outcome. Throws the last error where there is none. */
  async #repeat(order: Order, deadline: Deadline): Promise<OrderOutcome> {
    const { environment } = this.#context.core;
    let refusedTokens = 0;
    for (let failures = 0; ; failures += 1) {
      // Before each attempt: a pause may last hours, and the clock may be changed in it.
      if (this.#isInDoubt && (await this.#isStale(deadline))) return this.#ask(deadline);
      try {
        return await this.#attempt(order, deadline);
      } catch (thrown) {
        const error = asError(thrown);
        if (error.code === 'UNAUTHENTICATED') refusedTokens += 1;
        // One token may have run out on its way; a second one that is refused was not worth a third.
        if (isLasting(error) || refusedTokens > 1) throw error;
        const pause = pauseMs(error, failures, environment.random());
        if (pause >= deadline.remainingMs) throw error;
        await deadline.sleep(pause);
        if (deadline.isOver) throw error;
      }
    }
  }

  async #attempt(order: Order, deadline: Deadline): Promise<OrderOutcome> {
    const { core, disposal } = this.#context;
    if (disposal.aborted) throw disposed();
    const within = Math.min(ATTEMPT_MS, deadline.remainingMs);
    const attempt = new Deadline(core.environment, within, deadline.signal);
    try {
      const account = await checkAccount(core, this.#account, attempt);
      this.#account = account;
      await this.#store(account, order.digest, attempt);
      // Storing takes time, in which the user may have changed.
      await checkAccount(core, account, attempt);
      if (attempt.isOver) throw outOfTime();
      return await this.#send(order, account, attempt);
    } finally {
      attempt.close();
    }
  }

  async #send(order: Order, account: string, attempt: Deadline): Promise<OrderOutcome> {
    const wasInDoubt = this.#isInDoubt;
    this.#isInDoubt = true;
    try {
      const result = await attempt.race(order.send(account, attempt.signal));
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
  async #store(account: string, digest: string, attempt: Deadline): Promise<void> {
    const { core, keys } = this.#context;
    this.#stamp ??= stampNow(core.environment);
    if (keys === null) return;
    const { at } = this.#stamp;
    const storing = keys.add(account, { key: this.idempotencyKey, digest, at });
    let isLate = false;
    storing.then(
      () => {
        if (isLate && !this.#isInDoubt && this.#running === null) this.#delete(account);
      },
      () => {},
    );
    try {
      await attempt.race(storing);
    } catch (cause) {
      isLate = true;
      const message = 'The order was not sent, because this device cannot keep its key.';
      throw new TradingGraphError(message, { code: 'STORAGE', retryable: true, cause });
    }
  }

  async #isStale(deadline: Deadline): Promise<boolean> {
    const { core, keys } = this.#context;
    if (this.#stamp === null) return false;
    const latest = keys === null ? -Infinity : await deadline.race(keys.latest());
    return ageOf(this.#stamp, core.environment, latest) !== 'fresh';
  }

  /** The server may have forgotten the key, and would take it for a new order. */
  async #ask(deadline: Deadline): Promise<OrderOutcome> {
    const { core } = this.#context;
    const account = await checkAccount(core, this.#account, deadline);
    const outcome = await askOutcome(core, { account, key: this.idempotencyKey }, deadline);
    if (outcome !== null) return outcome;
    const message = 'The key of this order is too old, or the clock was changed, to send it again.';
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

/** What the price says where the app does not: the server compares the two, should one be lost on its way. */
function kindOf({ kind, price }: OrderInput): OrderInput['kind'] {
  return kind ?? (price === undefined ? 'MARKET' : 'PENDING');
}

/** The price says the kind as well, so that a key of an app that did not send it yet is one of the same order. */
function withoutKind(text: string): string {
  const { kind: _, ...compared } = JSON.parse(text) as { kind?: unknown };
  return JSON.stringify(compared);
}
