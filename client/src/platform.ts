// The platform's own types, if the app's compiler has them; React Native's has no DOM types.

/** The platform's `fetch`. */
export type Fetch = typeof globalThis extends { fetch: infer Own }
  ? Own
  : (...args: never[]) => Promise<unknown>;

/** The platform's class of WebSockets. */
export type WebSocketClass = typeof globalThis extends { WebSocket: infer Own }
  ? Own
  : new (
      ...args: never[]
    ) => object;

/** The class of WebSockets of a package, such as `ws`. */
export type SocketClass = new (
  url: string,
  protocol: string,
) => { send(text: string): void; close(code?: number): void };

/** The signal of the platform's `AbortController`. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Own } }
  ? Own
  : {
      readonly aborted: boolean;
      addEventListener(type: 'abort', listener: () => void): void;
      removeEventListener(type: 'abort', listener: () => void): void;
    };
