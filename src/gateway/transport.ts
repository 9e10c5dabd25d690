import { performance } from 'node:perf_hooks';
import { type Dispatcher, errors } from 'undici';
import { ByteCollector } from '../lib/byte-collector.ts';
import { type LogicalClock, systemClock } from '../lib/clock.ts';
import { OversizeError, unpack } from '../lib/unpack.ts';
import { callOutcome } from './classify.ts';
import { DeadlineError, NotAttemptedError } from './errors.ts';
import type { Answer, Exchange, NoAnswer, ObserveCall, Send, WireCall } from './exchange.ts';
import type { Pools } from './pools.ts';

/** Each call has the logical time at which it was sent. */
export function createTransport(
  pools: Pools,
  observe: ObserveCall,
  logicalClock: LogicalClock,
): Send {
  const shared = { logicalClock, observe };
  return (call, end) => {
    const { verb, area } = call.row;
    const dispatch = new Dispatch(call, shared, end);
    if (dispatch.isOver) return;
    try {
      const { path, headers, body } = call;
      pools.of(area).dispatch(
        {
          path: pools.prefix + path,
          method: verb,
          // undici only reads them; its types ask for a mutable list.
          headers: headers as string[],
          body,
        },
        dispatch,
      );
    } catch (error) {
      dispatch.fail('connection', error);
    }
  };
}

/** The parts that all calls of a transport share. */
interface Shared {
  readonly logicalClock: LogicalClock;
  readonly observe: ObserveCall;
}

type Headers = Record<string, string | string[] | undefined>;

/** A slow gateway may send an informational answer every second. */
const MAX_INTERIMS = 100;
const TOO_LATE = 'the moment before which it was meant to be sent has passed';
/** How long after its deadline an order's answer is still read. */
export const LATE_MS = 60_000;
const EMPTY = Buffer.alloc(0);
const NO_HEADERS: Answer['headers'] = Object.freeze({});

/** One dispatch through undici, which ends exactly once. */
class Dispatch implements Dispatcher.DispatchHandler {
  readonly #call: WireCall;
  readonly #shared: Shared;
  readonly #onEnd: (exchange: Exchange) => void;
  readonly #signal: AbortSignal | undefined;
  #deadline: NodeJS.Timeout;
  readonly #startedAt = performance.now();
  readonly #begunAtMs = systemClock.now();
  // A function: for an object as a listener Node keeps a closure of its own, and no dispatch would die young.
  readonly #onAbort = () => this.fail('aborted', new Error('the request was aborted'));
  #controller: Dispatcher.DispatchController | null = null;
  #sentAtMs = 0;
  #logicalTime = 0;
  /** The informational answers so far. */
  #interims = 0;
  #status = 0;
  #headers = NO_HEADERS;
  /** Null until the body begins. */
  #collector: ByteCollector | null = null;
  /** Whether the call has ended by its deadline, and its answer is still read. */
  #isLate = false;
  #ended = false;

  constructor(call: WireCall, shared: Shared, onEnd: (exchange: Exchange) => void) {
    this.#call = call;
    this.#shared = shared;
    this.#onEnd = onEnd;
    const { signal } = call;
    this.#signal = signal;
    this.#deadline = setTimeout(Dispatch.expire, call.deadlineMs, this);
    if (signal?.aborted) this.#onAbort();
    else signal?.addEventListener('abort', this.#onAbort);
  }

  get isOver(): boolean {
    return this.#ended;
  }

  /** After a pause of the process the answer may have come in time: sockets are read before the call is given up. */
  static expire(dispatch: Dispatch): void {
    const giveUp = () => dispatch.#giveUp();
    if (dispatch.#controller === null) giveUp();
    else setImmediate(giveUp);
  }

  /**
   * undici writes the head in the same tick, right after this: from here on the gateway may have
   * acted. What is thrown here stops it before a byte is written, and leaves the connection whole.
   */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#ended) throw new Error('given up before it was sent');
    if (this.#controller !== null) {
      // undici reserves the right to resend a request after a lost connection; an order must not be resent.
      const error = new Error('the connection was lost');
      this.fail('connection', error);
      throw error;
    }
    const { deadlineMs, sendBeforeMs } = this.#call;
    const nowMs = systemClock.now();
    if (nowMs - this.#begunAtMs >= deadlineMs) {
      // After a pause of the process a connection may be read of before the timer fires, and a machine that slept stopped it.
      const error = new DeadlineError(deadlineMs);
      this.fail('timeout', error);
      throw error;
    }
    if (sendBeforeMs !== undefined && systemClock.date() > sendBeforeMs) {
      const error = new NotAttemptedError('expired', TOO_LATE);
      this.fail('connection', error);
      throw error;
    }
    this.#controller = controller;
    this.#logicalTime = this.#shared.logicalClock.next();
    this.#sentAtMs = nowMs;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Headers,
  ): void {
    if (status < 200) {
      this.#interims += 1;
      if (this.#interims > MAX_INTERIMS) this.fail('protocol', new Error('it sends no answer'));
      return;
    }
    this.#status = status;
    this.#headers = flatten(headers);
    if (!this.#call.row.mayHaveAged && Number.parseInt(this.#headers.age ?? '', 10) > 0) {
      this.fail('cached', new Error('a cache answered, which may have it from another user'));
    }
    const announced = Number(this.#headers['content-length'] ?? 0);
    if (announced > this.#call.maxBytes) this.fail('oversize', new OversizeError('announced'));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#collector ??= this.#newCollector();
    if (this.#collector.add(chunk) !== 'kept') {
      this.fail('oversize', new OversizeError('received'));
    }
  }

  onResponseEnd(): void {
    this.#end({
      sent: true,
      answered: true,
      status: this.#status,
      headers: this.#headers,
      bytes: this.#collector?.take() ?? EMPTY,
      logicalTime: this.#logicalTime,
      sentAtMs: this.#sentAtMs,
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    const noHead =
      error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError;
    // After a good head a parser error most often means that the body broke off.
    this.fail(noHead && this.#status === 0 ? 'protocol' : 'connection', error);
  }

  fail(reason: NoAnswer['reason'], cause: unknown): void {
    if (this.#ended) return;
    const controller = this.#controller;
    if (controller === null) {
      this.#end({ sent: false, cause });
      return;
    }
    this.#end(this.#noAnswer(reason, cause));
    controller.abort(new Error(reason, { cause }));
  }

  #giveUp(): void {
    const { deadlineMs, onLate, mayBeLate = () => true } = this.#call;
    const error = new DeadlineError(deadlineMs);
    const isWanted = onLate !== undefined && this.#controller !== null && !this.#ended;
    if (!isWanted || !mayBeLate()) {
      this.fail('timeout', error);
      return;
    }
    this.#isLate = true;
    this.#deadline = setTimeout(() => this.fail('timeout', error), LATE_MS);
    this.#settle(this.#noAnswer('timeout', error));
  }

  #noAnswer(reason: NoAnswer['reason'], cause: unknown): NoAnswer {
    const [logicalTime, sentAtMs] = [this.#logicalTime, this.#sentAtMs];
    return { sent: true, answered: false, reason, cause, logicalTime, sentAtMs };
  }

  #newCollector(): ByteCollector {
    return new ByteCollector({
      maxBytes: this.#call.maxBytes,
      announcedBytes: Number(this.#headers['content-length'] ?? 0),
      // Small pieces cost time and no memory, so a gateway may write as many as it likes.
      freePieces: Number.POSITIVE_INFINITY,
    });
  }

  #end(exchange: Exchange): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#deadline);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    const packed = packedAnswer(exchange);
    if (packed === null) this.#arrived(exchange);
    else {
      const encoding = packed.headers['content-encoding'];
      const failed = (cause: unknown) => {
        const reason = cause instanceof OversizeError ? 'oversize' : 'encoding';
        this.#arrived(this.#noAnswer(reason, cause));
      };
      unpack(packed.bytes, encoding, this.#call.maxBytes).then(
        (bytes) => this.#arrived({ ...packed, bytes }),
        failed,
      );
    }
  }

  #arrived(exchange: Exchange): void {
    if (this.#isLate) this.#call.onLate?.(exchange);
    else this.#settle(exchange);
  }

  #settle(exchange: Exchange): void {
    const { operation, caller } = this.#call;
    const ms = performance.now() - this.#startedAt;
    const outcome = callOutcome(this.#call, exchange);
    try {
      this.#shared.observe(this.#call, outcome, ms, exchange);
      caller.receipt?.({ operation, ms, source: 'call', outcome });
    } finally {
      this.#onEnd(exchange);
    }
  }
}

/** Hardly any header occurs twice, so undici's own object serves as it is. */
function flatten(headers: Headers): Answer['headers'] {
  for (const name in headers) if (Array.isArray(headers[name])) return joined(headers);
  return headers as Answer['headers'];
}

function joined(headers: Headers): Answer['headers'] {
  const flat: Record<string, string | undefined> = Object.create(null);
  for (const [name, value] of Object.entries(headers)) {
    flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

function packedAnswer(exchange: Exchange): Answer | null {
  if (!exchange.sent || !exchange.answered || exchange.bytes.length === 0) return null;
  return exchange.headers['content-encoding'] === undefined ? null : exchange;
}
