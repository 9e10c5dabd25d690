import {
  type Client,
  createClient,
  type FormattedExecutionResult,
  type Sink,
} from 'graphql-ws/client';
import type { Environment } from '../environment.ts';
import { isObject, protocolError, serverError } from '../request/failures.ts';
import type { Line, LineEvents, Loss, SubscribeRequest, SubscriptionEvents } from './line.ts';
import { Watchdog } from './watchdog.ts';

const PROTOCOL = 'graphql-transport-ws';
const HANDSHAKE_MS = 10_000;
// A proxy that swallows the upgrade looks like a slow line, until another way is tried.
const SLOW_HANDSHAKE_MS = 3_000;
// The server sends an event every 15 s at least.
const SILENCE_MS = 20_000;
const ANSWER_MS = 5_000;
const TOO_MANY_RETRY_SECONDS = 5;

/** Close codes of the protocol and of the server. */
const TOKEN_REFUSED = new Set([4401, 4403]);
const TRY_AGAIN_LATER = 1013;
// A message too large, an invalid one, another protocol: a new socket would be closed in the same way.
const FATAL = new Set([1009, 4400, 4406, 4409]);

export interface SocketLineOptions {
  readonly url: string;
  readonly token: string;
  readonly events: LineEvents;
  /** Called once where the handshake takes longer than it should. */
  readonly onSlow: () => void;
}

/**
 * One WebSocket from its opening to its loss, by graphql-ws. Reconnecting is left to the caller, because that library's own
 * begins its back-off anew with each acknowledgement.
 */
export class SocketLine implements Line {
  readonly isReusable = true;
  readonly #client: Client;
  readonly #socket: WebSocket;
  readonly #events: LineEvents;
  readonly #ends = new Set<() => void>();
  #cancelHandshake: () => void;
  #watchdog: Watchdog | null = null;
  #isOver = false;

  /** Throws where the platform refuses the URL. */
  constructor(
    environment: Environment & { readonly WebSocket: typeof WebSocket },
    { url, token, events, onSlow }: SocketLineOptions,
  ) {
    this.#events = events;
    this.#socket = new environment.WebSocket(url, PROTOCOL);
    // The `ws` package throws an error that nobody listens to; graphql-ws stops listening when it terminates.
    this.#socket.addEventListener('error', () => {});
    this.#client = createClient({
      url,
      webSocketImpl: constructorOf(this.#socket),
      connectionParams: { authorization: `Bearer ${token}` },
      retryAttempts: 0,
      on: {
        connected: () => this.#acknowledged(environment),
        message: () => this.#watchdog?.heard(),
        error: () => this.#lost({ kind: 'broken' }),
        closed: (event) => this.#lost(lossOf(event)),
      },
    });
    this.#cancelHandshake = environment.after(SLOW_HANDSHAKE_MS, () => {
      onSlow();
      const lost = () => this.#lost({ kind: 'broken' });
      this.#cancelHandshake = environment.after(HANDSHAKE_MS - SLOW_HANDSHAKE_MS, lost);
    });
  }

  start({ document, variables }: SubscribeRequest, events: SubscriptionEvents): () => void {
    let isOver = false;
    const ended: SubscriptionEvents['ended'] = (errors) => {
      if (isOver || this.#isOver) return;
      isOver = true;
      this.#ends.delete(end);
      events.ended(errors);
    };
    const sink: Sink<FormattedExecutionResult<unknown, unknown>> = {
      next: (answer) => {
        if (isOver || this.#isOver) return;
        const { data, errors } = answer;
        const own = Array.isArray(errors) ? errors : [];
        events.next({ data: data ?? null, errors: own.map((error) => serverError(error, null)) });
      },
      // All but the server's list of errors is the loss of the line, which is reported once for all.
      error: (reason) => {
        if (Array.isArray(reason)) ended(reason.map((error) => serverError(error, null)));
      },
      complete: () => ended([]),
    };
    const payload = { query: '', ...document, ...(isObject(variables) && { variables }) };
    const leave = this.#client.subscribe(payload, sink);
    const end = () => {
      isOver = true;
      this.#ends.delete(end);
      leave();
    };
    this.#ends.add(end);
    return end;
  }

  check(): void {
    this.#watchdog?.check();
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelHandshake();
    this.#watchdog?.stop();
    // Without a subscription left graphql-ws never connects again by itself.
    for (const end of [...this.#ends]) end();
    this.#client.terminate();
    try {
      this.#socket.close(1000);
    } catch {
      // It is closed already.
    }
  }

  #acknowledged(environment: Environment): void {
    if (this.#isOver) return;
    this.#cancelHandshake();
    this.#watchdog = new Watchdog({
      environment,
      silenceMs: SILENCE_MS,
      answerMs: ANSWER_MS,
      ask: () => this.#ping(),
      onDead: () => this.#lost({ kind: 'broken' }),
    });
    this.#events.acknowledged();
  }

  #ping(): void {
    try {
      this.#socket.send('{"type":"ping"}');
    } catch {
      // The socket is closing, which its event reports.
    }
  }

  #lost(loss: Loss): void {
    if (this.#isOver) return;
    this.close();
    this.#events.lost(loss);
  }
}

/** A constructor for graphql-ws, which returns the socket that is already open. */
function constructorOf(socket: WebSocket): unknown {
  const { CONNECTING, OPEN, CLOSING, CLOSED } = socket;
  return Object.assign(
    function opened() {
      return socket;
    },
    { CONNECTING, OPEN, CLOSING, CLOSED },
  );
}

function lossOf(event: unknown): Loss {
  const { code, reason } = isObject(event) ? event : {};
  if (TOKEN_REFUSED.has(Number(code))) return { kind: 'token-refused' };
  if (code === TRY_AGAIN_LATER) return { kind: 'broken', retryAfter: TOO_MANY_RETRY_SECONDS };
  if (!FATAL.has(Number(code))) return { kind: 'broken' };
  return { kind: 'fatal', error: protocolError(`The WebSocket was closed: ${code} ${reason}.`) };
}
