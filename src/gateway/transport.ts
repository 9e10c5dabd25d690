import { createSecureContext } from 'node:tls';
import { buildConnector, type Dispatcher, errors, Pool } from 'undici';
import { ByteCollector } from '../lib/byte-collector.ts';
import { type LogicalClock, systemClock } from '../lib/clock.ts';
import { clientOf } from '../lib/limits/request-caller.ts';
import { OversizeError, unpack } from '../lib/pack.ts';
import type { Answer, Exchange, NoAnswer, Send, WireCall } from './exchange.ts';
import { DeadlineError, NotAttemptedError } from './gateway-error.ts';
import type { Area } from './operation-traits.ts';

// A share of a read's deadline: a host that drops packets fails while connecting, before the deadline hides the cause.
const CONNECT_SHARE = 0.7;

// A connection for an order is idle only if its order was given up. It is closed soon: if the gateway closes a connection
// just as another order is written, the outcome of that order is unknown.
const ORDER_IDLE_MS = 1_000;
const IDLE_MS = 4_000;
const MAX_IDLE_MS = 30_000;
/** An older connection takes no new call, so that all calls follow the gateway's name to a new address. */
const OLDEST_MS = 10_000;

const REUSED = {
  keepAliveTimeout: IDLE_MS,
  keepAliveMaxTimeout: MAX_IDLE_MS,
  clientTtl: OLDEST_MS,
};
/** Each connection serves one order, so that no other answer can be taken for the order's. */
const FOR_ONE_ORDER = { keepAliveTimeout: ORDER_IDLE_MS, maxRequestsPerClient: 1 };

/** The connections to one origin: a pool for each area. */
export class Pools {
  /** The maximum number of connections in each area. */
  readonly widths: Readonly<Record<Area, number>>;
  /** The path of the origin's address, without a trailing slash. */
  readonly prefix: string;
  readonly byArea = new Map<Area, Pool>();

  /** `timeoutMs`: the deadline of a read. */
  constructor(address: string, widths: Readonly<Record<Area, number>>, timeoutMs: number) {
    const url = new URL(address);
    this.widths = widths;
    this.prefix = url.pathname.replace(/\/+$/, '');
    const connect = buildConnector({
      allowH2: false,
      timeout: timeoutMs * CONNECT_SHARE,
      // All connections share this context. Creating one for each would be a fifth of the cost of connecting.
      ...(url.protocol === 'https:' && { secureContext: createSecureContext() }),
    });
    for (const [area, connections] of Object.entries(widths)) {
      const pool = new Pool(url.origin, {
        ...(area === 'orders' ? FOR_ONE_ORDER : REUSED),
        connections,
        connect,
        pipelining: 1,
        allowH2: false,
        // Each call has its own deadline, for head and body together.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      this.byArea.set(area, pool);
    }
  }

  of(area: Area): Pool {
    const pool = this.byArea.get(area);
    if (pool === undefined) throw new Error(`no pool for ${area}`);
    return pool;
  }

  async close(): Promise<void> {
    await Promise.all([...this.byArea.values()].map((each) => each.destroy()));
  }
}

/** The maximum number of connections in each of the gateway's areas, as shares of the total. */
export function gatewayWidths(connections: number) {
  const width = (share: number) => Math.max(1, Math.floor(connections * share));
  return { reads: width(0.5), orders: width(0.25), rest: width(0.25) };
}

/** How long after its deadline an order's answer is still read. */
export const LATE_MS = 60_000;

/** Sends calls over the pools. */
export class Transport {
  readonly logicalClock: LogicalClock;
  readonly #pools: Pools;
  #lateCalls = 0;
  /** The calls of each account that wait for a late answer. */
  readonly #lateByAccount = new Map<string, number>();

  constructor(pools: Pools, logicalClock: LogicalClock) {
    this.#pools = pools;
    this.logicalClock = logicalClock;
  }

  readonly send: Send = (call) => {
    const { promise, resolve } = Promise.withResolvers<Exchange>();
    const dispatch = new Dispatch(call, this, resolve);
    try {
      const { operation, description, path, headers, body } = call;
      this.#pools.of(operation.area).dispatch(
        {
          path: this.#pools.prefix + path,
          method: description.method,
          // undici only reads the list, but its type is mutable.
          headers: headers as string[],
          body,
        },
        dispatch,
      );
    } catch (error) {
      dispatch.fail('connection', error);
    }
    return promise;
  };

  /**
   * At most half of an area's connections wait for late answers, and half of one account's share, so that the next calls
   * of all accounts find a free connection. Returns a function that ends the wait; null if the call must not wait.
   */
  beginLate({ operation, caller }: WireCall): (() => void) | null {
    const width = this.#pools.widths[operation.area] ?? 0;
    const account = clientOf(caller).key;
    const lateOfAccount = this.#lateByAccount.get(account) ?? 0;
    // The orders of one account hold at most a quarter of the connections.
    const maxOfAccount = Math.max(1, Math.floor(width / 4 / 2));
    if (this.#lateCalls >= width / 2 || lateOfAccount >= maxOfAccount) return null;
    this.#countLate(account, 1);
    return () => this.#countLate(account, -1);
  }

  #countLate(account: string, count: 1 | -1): void {
    this.#lateCalls += count;
    const lateOfAccount = (this.#lateByAccount.get(account) ?? 0) + count;
    if (lateOfAccount > 0) this.#lateByAccount.set(account, lateOfAccount);
    else this.#lateByAccount.delete(account);
  }
}

type Headers = Record<string, string | string[] | undefined>;

const TOO_LATE = 'the time by which it had to be sent has passed';
const EMPTY = Buffer.alloc(0);

/** One dispatch through undici, which ends exactly once. */
class Dispatch implements Dispatcher.DispatchHandler {
  readonly #call: WireCall;
  readonly #transport: Transport;
  #resolve: (exchange: Exchange | Promise<Exchange>) => void;
  #deadline: NodeJS.Timeout;
  readonly #begunAtMs = systemClock.now();
  #controller: Dispatcher.DispatchController | null = null;
  #sentAtMs = 0;
  #logicalTime = 0;
  #status = 0;
  #headers: Answer['headers'] = {};
  /** Null until the body begins. */
  #collector: ByteCollector | null = null;
  /** Ends the wait for a late answer; null before the deadline. */
  #endLate: (() => void) | null = null;
  #ended = false;

  constructor(
    call: WireCall,
    transport: Transport,
    resolve: (exchange: Exchange | Promise<Exchange>) => void,
  ) {
    this.#call = call;
    this.#transport = transport;
    this.#resolve = resolve;
    this.#deadline = setTimeout(() => this.#expire(), call.deadlineMs);
  }

  /**
   * undici writes the head right after this, in the same tick: from here on the gateway may have acted. An error that is
   * thrown here stops the request before a byte is written, and keeps the connection intact.
   */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#ended) throw new Error('given up before it was sent');
    // undici may resend a request after a lost connection, but an order must not be resent.
    if (this.#controller !== null) this.#stop(new Error('the connection was lost'));
    const { deadlineMs, sendBeforeMs } = this.#call;
    const nowMs = systemClock.now();
    // After a pause of the process, the connection may be ready before the timer of the deadline fires.
    if (nowMs - this.#begunAtMs >= deadlineMs) this.#stop(new DeadlineError(deadlineMs));
    // While a machine sleeps, timers stop, but its date goes on.
    if (sendBeforeMs !== undefined && systemClock.date() > sendBeforeMs) {
      this.#stop(new NotAttemptedError('expired', TOO_LATE));
    }
    this.#controller = controller;
    this.#logicalTime = this.#transport.logicalClock.next();
    this.#sentAtMs = nowMs;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Headers,
  ): void {
    // Informational answers are skipped. The deadline bounds their number.
    if (status < 200) return;
    this.#status = status;
    this.#headers = flatten(headers);
    const isFromCache = Number.parseInt(this.#headers.age ?? '', 10) > 0;
    if (isFromCache && !this.#call.operation.acceptsCached) {
      this.fail('cached', new Error("the answer came from a cache, and may be another user's"));
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#collector ??= new ByteCollector(this.#call.maxBytes);
    if (!this.#collector.add(chunk)) {
      this.fail('oversize', new OversizeError('received'));
    }
  }

  onResponseEnd(): void {
    const answer: Answer = {
      sent: true,
      answered: true,
      status: this.#status,
      headers: this.#headers,
      bytes: this.#collector?.take() ?? EMPTY,
      logicalTime: this.#logicalTime,
      sentAtMs: this.#sentAtMs,
    };
    const encoding = answer.headers['content-encoding'];
    const isPacked = encoding !== undefined && answer.bytes.length > 0;
    this.#end(isPacked ? this.#unpacked(answer, encoding) : answer);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    const isParserError =
      error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError;
    // After a good head, a parser error usually means that the body broke off.
    const isBrokenHead = isParserError && this.#status === 0;
    this.fail(isBrokenHead ? 'protocol' : 'connection', error);
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

  #stop(error: Error): never {
    this.fail('connection', error);
    throw error;
  }

  /** After a pause of the process the answer may have arrived in time, so sockets are read before the call is given up. */
  #expire(): void {
    if (this.#controller === null) this.#giveUp();
    else setImmediate(() => this.#giveUp());
  }

  #giveUp(): void {
    if (this.#ended) return;
    const { deadlineMs, readsLateAnswer = false } = this.#call;
    const error = new DeadlineError(deadlineMs);
    const waitsOn = readsLateAnswer && this.#controller !== null;
    const endLate = waitsOn ? this.#transport.beginLate(this.#call) : null;
    if (endLate === null) {
      this.fail('timeout', error);
      return;
    }
    const { promise: late, resolve } = Promise.withResolvers<Exchange>();
    this.#resolve({ ...this.#noAnswer('timeout', error), late });
    this.#resolve = resolve;
    this.#endLate = endLate;
    this.#deadline = setTimeout(() => this.fail('timeout', error), LATE_MS);
  }

  #noAnswer(reason: NoAnswer['reason'], cause: unknown): NoAnswer {
    const [logicalTime, sentAtMs] = [this.#logicalTime, this.#sentAtMs];
    return { sent: true, answered: false, reason, cause, logicalTime, sentAtMs };
  }

  #end(exchange: Exchange | Promise<Exchange>): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#deadline);
    this.#endLate?.();
    this.#resolve(exchange);
  }

  async #unpacked(answer: Answer, encoding: string): Promise<Exchange> {
    try {
      const bytes = await unpack(answer.bytes, encoding, this.#call.maxBytes);
      return { ...answer, bytes };
    } catch (cause) {
      const reason = cause instanceof OversizeError ? 'oversize' : 'encoding';
      return this.#noAnswer(reason, cause);
    }
  }
}

/** Joins the values of a header that occurs more than once. */
function flatten(headers: Headers): Answer['headers'] {
  for (const name in headers) {
    const value = headers[name];
    if (Array.isArray(value)) headers[name] = value.join(', ');
  }
  return headers as Answer['headers'];
}
