import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../lib/clock.ts';
import { listenLocally } from './local-server.ts';

/** One state of the account, which each operation tells of as late as it lags. */
export interface AccountState {
  /** By the facade's clock, which never goes back: `asOf`, a date, is no later. */
  readonly atMs: number;
  /** Which positions are open, and the state in which each last changed. */
  readonly positions: ReadonlyMap<string, number>;
  readonly orders: ReadonlySet<string>;
}

export type LaggingRead = 'getSession' | 'getOpenPositions';

export type LaggingGateway = Awaited<ReturnType<typeof startLaggingGateway>>;

export interface MutableState {
  /** The number of the state that is being made. */
  readonly number: number;
  readonly positions: Map<string, number>;
  readonly orders: Set<string>;
}

/** Ops 10 and 12 of one account, whose answers may be behind its states. */
export async function startLaggingGateway(login: string) {
  const states: AccountState[] = [
    { atMs: systemClock.now(), positions: new Map(), orders: new Set() },
  ];
  const perRead = (): Record<LaggingRead, number> => ({ getSession: 0, getOpenPositions: 0 });
  /** How far an operation's state is behind, and how long it takes from reading it to its answer. */
  const [lagMs, delayMs] = [perRead(), perRead()];
  /** Each so-manyth call of an operation fails; 0: none. */
  const [calls, failEvery] = [perRead(), perRead()];
  const server = createServer(async (request, response) => {
    const operation = request.url?.startsWith('/trading/session/')
      ? 'getSession'
      : 'getOpenPositions';
    calls[operation] += 1;
    const state = stateAt(states, systemClock.now() - lagMs[operation]);
    const fails = failEvery[operation] > 0 && calls[operation] % failEvery[operation] === 0;
    if (delayMs[operation] > 0) await delay(delayMs[operation]);
    if (fails) return void response.writeHead(503).end();
    const positions = [...state.positions].map(([id, number]) => ({
      id,
      symbol: 'AAPL',
      units: 1,
      profit: number,
      invested: 1,
    }));
    const orders = [...state.orders].map((id) => ({ id, symbol: 'AAPL' }));
    const body =
      operation === 'getOpenPositions'
        ? { positions }
        : { login: Number(login), orders, positions };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(body));
  });
  return {
    ...(await listenLocally(server)),
    states,
    lagMs,
    delayMs,
    calls,
    failEvery,
    /** Makes the next state out of the present one. */
    change(by: (state: MutableState) => void): void {
      const { positions, orders } = states.at(-1) as AccountState;
      const next = {
        number: states.length,
        positions: new Map(positions),
        orders: new Set(orders),
      };
      by(next);
      states.push({ atMs: systemClock.now(), positions: next.positions, orders: next.orders });
    },
  };
}

/** The account's first state counts for all times before it. */
export function stateAt(states: readonly AccountState[], atMs: number): AccountState {
  return states.findLast((state) => state.atMs <= atMs) ?? (states[0] as AccountState);
}
