import type { Environment } from '../environment.ts';
import type { Signal } from '../platform.ts';
import { parseJson } from '../request/wire-result.ts';
import type { ClientStorage } from '../storage.ts';
import { FakeTime, soon } from './fake-time.ts';

/** The result of a new WebSocket: it opens, never answers, is refused with a status, or is closed with a code. */
export type Handshake =
  | 'opens'
  | 'silence'
  | { readonly status: number }
  | { readonly code: number };

/**
 * The state of the network. `there`: it works. `gone`: each attempt fails at once. `dead`: nothing is answered, and no error
 * is raised. `portal`: a proxy answers everything with its own 401.
 */
export type Reach = 'there' | 'gone' | 'dead' | 'portal';

/** The parts of a request that this client passes to `fetch`. */
interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: Signal;
}

/** The close code of a socket that was not closed by the server. */
const ABNORMAL_CLOSURE = 1006;
const STARTED_AT = Date.UTC(2026, 10, 20, 9, 30);

/** The server's side of a subscription. */
export interface FakeSubscription {
  readonly token: string;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  next(payload: object): void;
  end(errors?: readonly object[]): void;
  /** Ends the connection with a close code, or as a lost network does. */
  cut(code?: number): void;
}

/** The server of a fake network. */
export interface FakeServer {
  /** Called with each request, which may be answered later. */
  asked(request: FakeRequest): void;
  subscribed(subscription: FakeSubscription): void;
  /** The code with which the server closes a socket with this token; null if the server accepts the token. */
  refuses(token: string): number | null;
}

/** A platform whose network, clock and disk are controlled by the test. */
export class FakeNetwork {
  readonly time: FakeTime = new FakeTime();
  readonly texts: Map<string, string> = new Map();
  server: FakeServer = { asked() {}, subscribed() {}, refuses: () => null };
  reach: Reach = 'there';
  handshake: Handshake = 'opens';
  /** How many WebSockets the client has tried to open. */
  tried = 0;
  /** How far the server's clock is ahead of the fake time. */
  serverAheadMs = 0;
  /** How far this device's clock is ahead of the fake time. */
  deviceAheadMs = 0;
  /** The value of each random number that the client asks for. */
  random = 0.5;
  /** Whether the storage takes texts, refuses them, or never answers. */
  store: 'works' | 'refuses' | 'silence' = 'works';
  isVisible = true;
  isOnline = true;
  /** The open connections, which the network can cut. */
  readonly connections: Set<{ cut(code?: number): void }> = new Set();
  readonly #returning = new Set<(why?: 'online') => void>();
  readonly #hiding = new Set<() => void>();
  #ids = 0;
  /** The number of this run of the app. What an earlier run left behind has no effect any more. */
  #run = 0;

  get serverMs(): number {
    return STARTED_AT + this.time.uptimeMs + this.serverAheadMs;
  }

  /** The tasks, connections and platform listeners that the client has left waiting. */
  get pending(): number {
    return this.time.pending + this.connections.size + this.#returning.size + this.#hiding.size;
  }

  /** Ends the app at once, with all its timers and connections. */
  kill(): void {
    this.#run += 1;
    this.time.clear();
    this.connections.clear();
    this.#returning.clear();
    this.#hiding.clear();
  }

  hide(): void {
    this.isVisible = false;
    for (const listener of [...this.#hiding]) listener();
  }

  /** Shows the app again; with `online`, reports that the network is back or has changed. */
  comeBack(why?: 'online'): void {
    if (why === undefined) this.isVisible = true;
    for (const listener of [...this.#returning]) listener(why);
  }

  environment(): Environment {
    const network = this;
    const run = this.#run;
    // The casts are safe: the client uses only the members that the fakes have.
    return {
      fetch: ((url: string, init?: Sent) =>
        run === this.#run ? this.#fetch(url, init) : never()) as unknown as Environment['fetch'],
      WebSocket: this.#socketClass() as unknown as Environment['WebSocket'],
      now: () => STARTED_AT + this.time.uptimeMs + this.deviceAheadMs,
      uptime: () => this.time.uptimeMs,
      random: () => this.random,
      // A process without a window would count as a server, which has many users.
      isServer: false,
      randomId: () => {
        this.#ids += 1;
        return `00000000-0000-4000-8000-${String(this.#ids).padStart(12, '0')}`;
      },
      after: (ms, task) => (run === this.#run ? this.time.after(ms, task) : () => {}),
      lifecycle: {
        get isVisible() {
          return network.isVisible;
        },
        get isOnline() {
          return network.isOnline;
        },
        onReturn: (listener) => added(this.#returning, listener),
        onHide: (listener) => added(this.#hiding, listener),
      },
    };
  }

  storage(): ClientStorage {
    const run = this.#run;
    const step = async <T>(task: () => T): Promise<T> => {
      if (this.store === 'silence' || run !== this.#run) return never();
      if (this.store === 'refuses') throw new Error('The storage is full.');
      return task();
    };
    const { texts } = this;
    return {
      get: (key) => step(() => texts.get(key) ?? null),
      set: (key, text) => step(() => void texts.set(key, text)),
      delete: (key) => step(() => void texts.delete(key)),
      keys: (prefix) => step(() => [...texts.keys()].filter((key) => key.startsWith(prefix))),
    };
  }

  async #fetch(url: string, init: Sent = {}): Promise<object> {
    const request = new FakeRequest(this, url, init);
    if (this.reach === 'dead') return request.answered;
    if (this.reach === 'portal') request.text('<html>Sign in</html>', { status: 401 });
    else if (this.reach === 'gone') request.lose();
    else this.server.asked(request);
    return request.answered;
  }

  #socketClass() {
    const network = this;
    const run = this.#run;
    return class FakeSocket extends EventTarget {
      #isOver = false;
      #token = '';

      constructor() {
        super();
        network.tried += 1;
        const { handshake, reach } = network;
        soon(() => {
          if (run !== network.#run || reach === 'dead' || handshake === 'silence') return;
          if (reach !== 'there') this.#fire('error');
          else if (handshake === 'opens' || 'code' in handshake) this.#open();
          else this.#fire('error', { message: `Unexpected server response: ${handshake.status}` });
        });
      }

      send(text: string): void {
        if (this.#isOver || run !== network.#run || network.reach === 'dead') return;
        const { type, id, payload } = Object(parseJson(text));
        if (type === 'connection_init') this.#begin(String(payload.authorization));
        if (type === 'ping') this.#receive({ type: 'pong' });
        if (type !== 'subscribe') return;
        network.server.subscribed({
          token: this.#token,
          query: payload.query ?? payload.documentId,
          variables: payload.variables ?? {},
          next: (result) => this.#receive({ type: 'next', id, payload: result }),
          end: (errors) =>
            this.#receive(
              errors ? { type: 'error', id, payload: errors } : { type: 'complete', id },
            ),
          cut: (code) => this.cut(code),
        });
      }

      close(): void {
        this.#isOver = true;
        network.connections.delete(this);
      }

      cut(code = ABNORMAL_CLOSURE): void {
        if (this.#isOver) return;
        this.close();
        this.#fire('close', { code, reason: '' });
      }

      #open(): void {
        network.connections.add(this);
        this.#fire('open');
      }

      #begin(authorization: string): void {
        const { handshake } = network;
        this.#token = authorization.replace('Bearer ', '');
        const code = typeof handshake === 'object' && 'code' in handshake ? handshake.code : null;
        const refusal = code ?? network.server.refuses(this.#token);
        if (refusal === null) this.#receive({ type: 'connection_ack' });
        else soon(() => this.cut(refusal));
      }

      #receive(message: object): void {
        if (network.reach === 'there') this.#fire('message', { data: JSON.stringify(message) });
      }

      #fire(type: string, details: object = {}): void {
        const event = Object.assign(new Event(type), details);
        soon(() => {
          if (run === network.#run) this.dispatchEvent(event);
        });
      }
    };
  }
}

/** A request of the client that waits for its answer. */
export class FakeRequest {
  readonly #network: FakeNetwork;
  readonly url: string;
  /** The text, or the id of a trusted document. */
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Empty without a token. */
  readonly token: string;
  /** When the request left, by the server's clock. */
  readonly sentMs: number;
  readonly answered: Promise<object>;
  isOver = false;
  #stream: FakeStream | null = null;
  #resolve: (response: object) => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor(network: FakeNetwork, url: string, { body, signal, headers = {} }: Sent) {
    this.#network = network;
    this.url = url;
    this.sentMs = network.serverMs;
    const inUrl = Object.fromEntries(new URLSearchParams(url.split('?')[1]));
    const sent = body === undefined ? inUrl : Object(parseJson(body));
    const { query, documentId = '', variables = {} } = sent;
    this.query = query ?? documentId;
    this.variables = typeof variables === 'string' ? Object(parseJson(variables)) : variables;
    this.token = headers.authorization?.replace('Bearer ', '') ?? '';
    this.answered = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    signal?.addEventListener('abort', () => {
      this.lose();
      this.#stream?.lose();
    });
  }

  answer(body: object, more: { readonly status?: number; readonly headers?: object } = {}): void {
    this.text(JSON.stringify(body), more);
  }

  /** Answers with a refusal of the whole request. */
  fail(error: object, message = 'refused'): void {
    this.answer({ errors: [{ message, extensions: error }] });
  }

  /** Answers with this text, such as a portal's page. */
  text(text: string, more: { readonly status?: number; readonly headers?: object } = {}): void {
    const { status = 200, headers } = more;
    this.isOver = true;
    this.#resolve({
      status,
      body: null,
      text: async () => text,
      headers: new Headers({ ...this.#dated(), ...headers }),
    });
  }

  /** Answers with a body whose pieces the test sends. */
  stream(type: string): FakeStream {
    this.isOver = true;
    const stream = new FakeStream();
    this.#stream = stream;
    this.#resolve(stream.response(new Headers({ ...this.#dated(), 'content-type': type })));
    return stream;
  }

  /** Answers in parts, like the answer to a query with `@defer`. */
  parts(results: readonly object[]): void {
    const stream = this.stream('multipart/mixed; boundary="-"');
    for (const [index, result] of results.entries()) {
      const hasNext = index + 1 < results.length;
      const part = index === 0 ? { ...result, hasNext } : { incremental: [result], hasNext };
      // The delimiter of parts is two hyphens and the boundary, which is a hyphen too.
      stream.write(`---\r\n\r\n${JSON.stringify(part)}\r\n---`);
    }
    stream.end();
  }

  /** Fails without an answer. The client cannot know whether the request arrived. */
  lose(): void {
    this.isOver = true;
    this.#reject(new TypeError('Failed to fetch'));
  }

  #dated() {
    return { date: new Date(this.#network.serverMs).toUTCString(), 'x-request-id': 'fake' };
  }
}

/** A body whose pieces arrive when the test sends them. */
class FakeStream {
  readonly #pieces: Uint8Array[] = [];
  #isOver = false;
  #error: Error | null = null;
  readonly #waiting = new Set<() => void>();

  write(text: string): void {
    this.#pieces.push(new TextEncoder().encode(text));
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  lose(): void {
    this.#error = new TypeError('network error');
    this.end();
  }

  /** Returns a response without `clone`, like that of Expo's `fetch` before SDK 56. */
  response(headers: object): object {
    return {
      status: 200,
      headers,
      body: { getReader: () => this.#reader() },
      text: async () => {
        const reader = this.#reader();
        let text = '';
        for (let piece = await reader.read(); !piece.done; piece = await reader.read())
          text += new TextDecoder().decode(piece.value);
        return text;
      },
    };
  }

  #reader() {
    let index = 0;
    const read = async (): Promise<{ done: boolean; value?: Uint8Array }> => {
      const value = this.#pieces[index];
      if (value !== undefined) {
        index += 1;
        return { done: false, value };
      }
      if (this.#error) throw this.#error;
      if (this.#isOver) return { done: true };
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
      return read();
    };
    return { read };
  }

  #wake(): void {
    for (const resolve of [...this.#waiting]) resolve();
    this.#waiting.clear();
  }
}

function added<T>(set: Set<T>, one: T): () => void {
  set.add(one);
  return () => void set.delete(one);
}

function never<T>(): Promise<T> {
  return new Promise<T>(() => {});
}
