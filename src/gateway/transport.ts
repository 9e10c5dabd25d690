import { performance } from 'node:perf_hooks';
import { type Dispatcher, errors } from 'undici';
import type { Caller } from './caller.ts';
import { DeadlineError } from './errors.ts';
import type { Answer, Exchange, NoAnswer } from './exchange.ts';
import { OPERATIONS, type OperationName } from './operations.ts';
import type { Pools } from './pools.ts';
import { OversizeError, unpack } from './unpack.ts';

/** One call as it goes onto the wire. */
export interface WireCall {
  readonly operation: OperationName;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly deadlineMs: number;
  readonly maxBytes: number;
  readonly caller: Caller;
}

/** Never rejects: what happened, happened, and is told. */
export type Send = (call: WireCall) => Promise<Exchange>;

export function createTransport(pools: Pools): Send {
  let lastSequence = 0;
  const nextSequence = () => {
    lastSequence += 1;
    return lastSequence;
  };
  return async (call) => {
    const startedAt = performance.now();
    const exchange = await unpacked(await exchangeOver(pools, call, nextSequence), call.maxBytes);
    call.caller.receipt?.({
      operation: call.operation,
      ms: performance.now() - startedAt,
      source: 'call',
    });
    return exchange;
  };
}

function exchangeOver(pools: Pools, call: WireCall, nextSequence: () => number): Promise<Exchange> {
  const { verb, area, effect } = OPERATIONS[call.operation];
  const pool = pools[area];
  // A write is never called back: what the client does after asking cannot make its outcome unknown.
  const signal = effect === 'read' ? call.caller.signal : undefined;
  return new Promise((resolve) => {
    const flight = new Flight(call, signal, nextSequence, resolve);
    if (flight.isOver) return;
    try {
      pool.dispatch(
        {
          path: pools.prefix + call.path,
          method: verb,
          headers: call.headers,
          body: call.body,
        },
        flight,
      );
    } catch (error) {
      flight.fail('connection', error);
    }
  });
}

/** One dispatch through undici, which ends exactly once. */
class Flight implements Dispatcher.DispatchHandler {
  readonly #call: WireCall;
  readonly #resolve: (exchange: Exchange) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #nextSequence: () => number;
  readonly #deadline: NodeJS.Timeout;
  readonly #onAbort = () => this.fail('aborted', this.#signal?.reason);
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | null = null;
  #sentAtMs = 0;
  #sequence = 0;
  #status = 0;
  #headers: Answer['headers'] = {};
  #length = 0;
  #ended = false;

  constructor(
    call: WireCall,
    signal: AbortSignal | undefined,
    nextSequence: () => number,
    resolve: (exchange: Exchange) => void,
  ) {
    this.#call = call;
    this.#signal = signal;
    this.#nextSequence = nextSequence;
    this.#resolve = resolve;
    this.#deadline = setTimeout(
      () => this.fail('timeout', new DeadlineError(call.deadlineMs)),
      call.deadlineMs,
    );
    if (signal?.aborted) this.fail('aborted', signal.reason);
    else signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  get isOver(): boolean {
    return this.#ended;
  }

  /**
   * undici writes the head in the same turn, right after this: from here on the gateway may have
   * acted. What is thrown here stops it before a byte is written, and leaves the connection whole.
   */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#ended) throw new Error('given up before it was sent');
    if (this.#controller !== null) {
      // undici reserves the right to begin a request anew after a lost connection; an order it may not.
      const error = new Error('the connection was lost');
      this.fail('connection', error);
      throw error;
    }
    this.#controller = controller;
    this.#sequence = this.#nextSequence();
    this.#sentAtMs = Date.now();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = flatten(headers);
    const announced = Number(this.#headers['content-length'] ?? 0);
    if (announced > this.#call.maxBytes) this.fail('oversize', new OversizeError('announced'));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#length > this.#call.maxBytes) this.fail('oversize', new OversizeError('received'));
    else if (!this.#ended) this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first, ...rest] = this.#chunks;
    this.#end({
      sent: true,
      answered: true,
      status: this.#status,
      headers: this.#headers,
      bytes: rest.length === 0 ? (first ?? Buffer.alloc(0)) : Buffer.concat(this.#chunks),
      sequence: this.#sequence,
      sentAtMs: this.#sentAtMs,
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    const noHead =
      error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError;
    // Behind a good head, a parser's complaint is most often a body that broke off.
    this.fail(noHead && this.#status === 0 ? 'protocol' : 'connection', error);
  }

  fail(reason: NoAnswer['reason'], cause: unknown): void {
    if (this.#ended) return;
    const controller = this.#controller;
    if (controller === null) {
      this.#end({ sent: false, cause });
      return;
    }
    this.#end({
      sent: true,
      answered: false,
      reason,
      cause,
      sequence: this.#sequence,
      sentAtMs: this.#sentAtMs,
    });
    controller.abort(new Error(reason, { cause }));
  }

  #end(exchange: Exchange): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#deadline);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#resolve(exchange);
  }
}

function flatten(headers: Record<string, string | string[] | undefined>): Answer['headers'] {
  const flat: Record<string, string | undefined> = Object.create(null);
  for (const [name, value] of Object.entries(headers)) {
    flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

async function unpacked(exchange: Exchange, maxBytes: number): Promise<Exchange> {
  if (!exchange.sent || !exchange.answered) return exchange;
  const encoding = exchange.headers['content-encoding'];
  if (encoding === undefined || exchange.bytes.length === 0) return exchange;
  try {
    return { ...exchange, bytes: await unpack(exchange.bytes, encoding, maxBytes) };
  } catch (cause) {
    const { sequence, sentAtMs } = exchange;
    const reason = cause instanceof OversizeError ? 'oversize' : 'encoding';
    return { sent: true, answered: false, reason, cause, sequence, sentAtMs };
  }
}
