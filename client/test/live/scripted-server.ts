import { createScriptedClock } from '../../../test/support/scripted-clock.ts';
import type { Core, Sink } from '../../src/core.ts';
import { TradingGraphError } from '../../src/errors.ts';
import type { Position } from '../../src/generated/rows.ts';
import type { PositionChangesData } from '../../src/live/positions-operation.ts';
import { ServerClock } from '../../src/server-clock.ts';
import { countedEnvironment } from '../support/counted-environment.ts';

export const ROWS = 50;

/** A server that changes one row in each event, and a network that fails after it. */
export class ScriptedServer {
  readonly clock = createScriptedClock();
  readonly environment = countedEnvironment({
    now: this.clock.now,
    uptime: this.clock.now,
    after: this.clock.after,
  });
  sink: Sink<PositionChangesData> | null = null;
  begun = 0;
  /** The cursor that the feed would send now. */
  variables: () => unknown = () => null;
  #version = 0;

  readonly core: Core = {
    environment: this.environment,
    storage: null,
    serverClock: new ServerClock(this.environment),
    heartbeatSeconds: 15,
    request: () => Promise.reject(new Error('not a part of this core')),
    subscribe: (_operation, variables, sink) => {
      this.begun += 1;
      this.variables = variables;
      this.sink = sink as unknown as Sink<PositionChangesData>;
      return () => {
        this.sink = null;
      };
    },
    account: () => Promise.resolve('700001'),
    onAccountChange: () => () => {},
    expectLogin() {},
    login: '700001',
    isDisposed: false,
    onDispose: () => {},
  };

  /** A line that is lost, and replaced at once. */
  reconnect(): void {
    this.sink?.disconnected?.(null);
    this.sink?.connected?.();
  }

  /** Ends the subscription as the server does: with an error as its last event, or with none. */
  end(code: string | null, details: { retryable?: boolean; retryAfter?: number } = {}): void {
    const { sink } = this;
    const error = code && new TradingGraphError(code, { code, retryable: false, ...details });
    if (error) sink?.next({ data: null, errors: [error] });
    this.sink = null;
    sink?.ended(null);
  }

  /** Ends it as a core does that has given up. */
  giveUp(code: string): void {
    const { sink } = this;
    this.sink = null;
    sink?.ended(new TradingGraphError(code, { code, retryable: false }));
  }

  send(snapshot: boolean, asOfMs = this.clock.now()): void {
    this.#version += 1;
    const count = snapshot ? ROWS : 1;
    const upserted = Array.from({ length: count }, (_, at) => this.#row(String(at)));
    this.sink?.next({
      data: {
        positionChanges: {
          cursor: `v${this.#version}`,
          snapshot,
          upserted,
          closed: [],
          totals: { count: ROWS, invested: null, profit: this.#version },
          status: 'LIVE',
          asOf: new Date(asOfMs).toISOString(),
        },
      },
      errors: [],
    });
  }

  #row(id: string): Position {
    return { id, symbol: 'AAPL', profit: this.#version } as Position;
  }
}
