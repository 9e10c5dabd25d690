import type { Core } from '../../src/core.ts';
import { type CoreOptions, createCore, type OwnCore } from '../../src/create-core.ts';

/** A core of which a test knows what is subscribed to. */
export interface ObservedCore extends OwnCore {
  /** Subscriptions that were begun. */
  readonly begun: number;
  /** Those that have not ended. */
  readonly open: number;
  /** The variables that were sent, those of reconnects included. */
  readonly sent: readonly unknown[];
}

export function createObservedCore(options: CoreOptions): ObservedCore {
  const core = createCore(options);
  const sent: unknown[] = [];
  const open = new Set<object>();
  let begun = 0;
  const subscribe: Core['subscribe'] = (operation, variables, sink) => {
    const own = {};
    begun += 1;
    open.add(own);
    const end = core.subscribe(
      operation,
      () => {
        const present = variables();
        sent.push(present);
        return present;
      },
      {
        next: (result) => sink.next(result),
        ended(error) {
          open.delete(own);
          sink.ended(error);
        },
        disconnected: (error) => sink.disconnected?.(error),
        connected: () => sink.connected?.(),
      },
    );
    return () => {
      open.delete(own);
      end();
    };
  };
  return {
    ...core,
    subscribe,
    get login() {
      return core.login;
    },
    get isDisposed() {
      return core.isDisposed;
    },
    get begun() {
      return begun;
    },
    get open() {
      return open.size;
    },
    sent,
  };
}
