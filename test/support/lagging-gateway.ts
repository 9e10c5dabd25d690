import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../lib/clock.ts';
import { listenLocally } from './local-server.ts';

/** One state of the account, which each operation tells of as late as it lags. */
export interface AccountState {
  /** By the facade's clock, as `asOf` is: a date that is set back meanwhile moves neither. */
  readonly atMs: number;
  /** Which positions are open, and the state in which each last changed. */
  readonly positions: ReadonlyMap<string, number>;
  readonly orders: ReadonlySet<string>;
}

export type LaggingRead = 'getSession' | 'getOpenPositions';

export interface LaggingGateway extends AsyncDisposable {
  readonly url: string;
  readonly states: readonly AccountState[];
  /** How far an operation's state is behind. */
  readonly lagMs: Record<LaggingRead, number>;
  /** How long an operation takes from reading its state to its answer. */
  readonly delayMs: Record<LaggingRead, number>;
  readonly calls: Record<LaggingRead, number>;
  /** Each so-manyth call of an operation fails; 0: none. */
  readonly failEvery: Record<LaggingRead, number>;
  /** Makes the next state out of the present one. */
  change(by: (state: MutableState) => void): void;
}

export interface MutableState {
  /** The number of the state that is being made. */
  readonly number: number;
  readonly positions: Map<string, number>;
  readonly orders: Set<string>;
}

/** Ops 10 and 12 of one account, whose answers may be behind its states. */
export async function startLaggingGateway(login: string): Promise<LaggingGateway> {
  const states: AccountState[] = [
    { atMs: systemClock.now(), positions: new Map(), orders: new Set() },
  ];
  const perRead = () => ({ getSession: 0, getOpenPositions: 0 });
  const [lagMs, delayMs, calls, failEvery] = [perRead(), perRead(), perRead(), perRead()];
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
      ...{ id, symbol: 'AAPL', units: 1, profit: number, invested: 1 },
    }));
    const orders = [...state.orders].map((id) => ({ id, symbol: 'AAPL' }));
    const body =
      operation === 'getOpenPositions'
        ? { positions }
        : { login: Number(login), orders, positions };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(body));
  });
  const gateway: LaggingGateway = {
    ...(await listenLocally(server)),
    ...{ states, lagMs, delayMs, calls, failEvery },
    change(by) {
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
  return gateway;
}

/** The account's first state counts for all times before it. */
export function stateAt(states: readonly AccountState[], atMs: number): AccountState {
  return states.findLast((state) => state.atMs <= atMs) ?? (states[0] as AccountState);
}
