import type { Fetch, SocketClass, WebSocketClass } from './platform.ts';

/** The functions of the platform that the client uses; tests and React Native give their own. */
export interface Environment {
  readonly fetch: Fetch;
  /** Null if the platform has none. */
  readonly WebSocket: WebSocketClass | null;
  /** Milliseconds since 1970, by a clock that the user may change. */
  now(): number;
  /** Milliseconds of a monotonic clock; it may stand still while the machine sleeps. */
  uptime(): number;
  /** From 0 up to, but not including, 1. */
  random(): number;
  /** A random UUID of version 4, for the keys of orders. */
  randomId(): string;
  /** Runs the task once and returns a function that cancels it, which may be called twice. */
  after(ms: number, task: () => void): () => void;
  /** Whether the process may have several users: then each request asks for its own token. By default true without a window. */
  readonly isServer?: boolean | undefined;
  /** Whether `fetch` may repeat a request after its connection broke. By default true if `fetch` is not Node's own. */
  readonly resends?: boolean | undefined;
  readonly lifecycle: Lifecycle;
}

/** The functions that an app gives in place of the platform's. */
export type OwnEnvironment = Partial<
  Omit<Environment, 'WebSocket'> & { readonly WebSocket: Environment['WebSocket'] | SocketClass }
>;

/** Whether the app is visible and the network available, as far as the platform says. */
export interface Lifecycle {
  readonly isVisible: boolean;
  /** False only if the platform reports that there is no network; undefined if it reports nothing. */
  readonly isOnline?: boolean | undefined;
  /**
   * Calls the listener when the page is shown again, and with `online` when the network is back or has changed. Then open
   * connections are replaced at once. Returns a function that removes the listener.
   */
  onReturn(listener: (why?: 'online') => void): () => void;
  /** Calls the listener when the page is hidden. Returns a function that removes the listener. */
  onHide(listener: () => void): () => void;
}
