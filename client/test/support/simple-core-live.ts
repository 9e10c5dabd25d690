import type { FormattedExecutionResult } from 'graphql';
import { createClient } from 'graphql-ws';
import type { Core, Result, Sink } from '../../src/core.ts';
import { TradingGraphError } from '../../src/errors.ts';
import type { TestEnvironment } from './test-environment.ts';

export interface SimpleCore extends Core {
  /** Every subscription that was begun, and those that are open. */
  readonly begun: number;
  readonly open: number;
  /** What each subscription sent as its variables, reconnects included. */
  readonly sent: readonly unknown[];
  /** Signs another account in: the token is asked for anew. */
  switchAccount(): void;
  dispose(): void;
}

export interface SimpleCoreOptions {
  readonly url: string;
  /** Null: nobody is signed in. */
  readonly token: () => string | null;
  readonly environment: TestEnvironment;
}

const RETRY_MS = 10;

/** As little of a core as live positions need, over a real WebSocket. */
export function createSimpleCore({ url, token, environment }: SimpleCoreOptions): SimpleCore {
  const accountListeners = new Set<() => void>();
  const disposals: (() => void)[] = [];
  const lines = new Set<Sink<never>>();
  const sent: unknown[] = [];
  let begun = 0;
  let isDisposed = false;
  const client = createClient({
    url,
    webSocketImpl: environment.WebSocket,
    lazyCloseTimeout: 0,
    retryAttempts: Number.POSITIVE_INFINITY,
    retryWait: () => new Promise((resolve) => void environment.after(RETRY_MS, resolve)),
    shouldRetry: (failure) => !(failure instanceof TradingGraphError),
    connectionParams: () => {
      const present = token();
      if (present === null)
        throw new TradingGraphError('signed out', { code: 'SIGNED_OUT', retryable: false });
      return { authorization: `Bearer ${present}` };
    },
    on: {
      connected: () => {
        for (const line of lines) line.connected?.();
      },
      closed: () => {
        for (const line of lines) line.disconnected?.();
      },
    },
  });

  return {
    environment,
    storage: null,
    request: () => Promise.reject(new Error('not a part of this core')),
    subscribe<Data, Variables>(operation: unknown, variables: () => Variables, sink: Sink<Data>) {
      begun += 1;
      let isOver = false;
      lines.add(sink as Sink<never>);
      const end = (error: TradingGraphError | null) => {
        if (isOver) return;
        isOver = true;
        lines.delete(sink as Sink<never>);
        sink.ended(error);
      };
      const leave = client.subscribe<Data, never>(
        {
          query: operation as string,
          get variables() {
            const present = variables() as Record<string, unknown>;
            // The library reads the variables to check them too, but turns them into text once for each message.
            const toJSON = () => {
              sent.push(present);
              return present;
            };
            return { toJSON };
          },
        },
        {
          next: (answer) => {
            if (!isOver) sink.next(resultOf(answer as unknown as FormattedExecutionResult<Data>));
          },
          error: (failure) => end(errorOf(failure)),
          complete: () => end(null),
        },
      );
      return () => {
        isOver = true;
        lines.delete(sink as Sink<never>);
        leave();
      };
    },
    reconnect: () => client.terminate(),
    account: () => Promise.resolve(token() ?? ''),
    onAccountChange(listener) {
      accountListeners.add(listener);
      return () => void accountListeners.delete(listener);
    },
    get isDisposed() {
      return isDisposed;
    },
    onDispose: (task) => void disposals.push(task),
    get begun() {
      return begun;
    },
    get open() {
      return lines.size;
    },
    sent,
    switchAccount() {
      client.terminate();
      for (const listener of [...accountListeners]) listener();
    },
    dispose() {
      for (const task of disposals) task();
      isDisposed = true;
      void client.dispose();
    },
  };
}

function resultOf<Data>({ data, errors = [] }: FormattedExecutionResult<Data>): Result<Data> {
  return { data: data ?? null, errors: errors.map(errorOf) };
}

function errorOf(failure: unknown): TradingGraphError {
  if (failure instanceof TradingGraphError) return failure;
  const { message, extensions } = failure as { message?: string; extensions?: unknown };
  const { code, retryable, retryAfter } = (extensions ?? {}) as {
    code?: string;
    retryable?: boolean;
    retryAfter?: number;
  };
  return new TradingGraphError(message ?? 'failed', {
    code: code ?? 'NETWORK',
    retryable: retryable ?? true,
    retryAfter: retryAfter ?? null,
  });
}
