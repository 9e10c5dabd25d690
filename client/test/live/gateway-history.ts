import type { SeededRandom } from '../../../test/end-to-end/orders/seeded-random.ts';
import { eventually } from '../../../test/support/eventually.ts';
import type { AccountState, PositionsState } from '../../src/live/states.ts';
import { type LiveWorld, prints } from './live-world.ts';

/** What is shown, as text that differs where it differs; null for what is not known yet. */
export interface Shown {
  readonly positions: string | null;
  readonly orders: string | null;
  readonly balance: string | null;
}

export const TRACKS = ['positions', 'orders', 'balance'] as const;

const EMAIL = 'demo@example.com';
const STATE = '{ positions { id profit } session(maxAge: 0) { balance orders { id priceOpen } } }';
const PLACE =
  'mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { __typename ... on OrderRejected { error } } }';
// The account holds nothing else of it, which these prices would ruin.
const TSLA = { symbol: 'TSLA', side: 'BUY', size: { units: 1 }, takeProfit: { price: 9_000 } };
const USUAL_PRICE = 400;

interface Row {
  readonly id: string;
}

/** Every state that the gateway has had, one after the other. */
export class GatewayHistory {
  readonly #world: LiveWorld;
  readonly #states: Shown[] = [];
  #orders = 0;

  constructor(world: LiveWorld) {
    this.#world = world;
  }

  get length(): number {
    return this.#states.length;
  }

  async record(): Promise<Shown> {
    const { witness, sandbox } = this.#world;
    // The witness may meet a fault that was meant for the client, and has no positions then.
    const state = await eventually(async (): Promise<Shown> => {
      const { data } = await witness.query(STATE, { token: sandbox.token({ email: EMAIL }) });
      return shownOf(data);
    });
    if (JSON.stringify(state) !== JSON.stringify(this.#states.at(-1))) this.#states.push(state);
    return state;
  }

  /** Moves prices, opens a position or a pending order, or triggers or closes those that are opened here. */
  async change(random: SeededRandom): Promise<void> {
    const { sandbox } = this.#world;
    const kind = random.pick(['tick', 'tick', 'open', 'close', 'pend', 'trigger'] as const);
    if (kind === 'open') await this.#place({ kind: 'MARKET' });
    else if (kind === 'pend') await this.#place({ kind: 'PENDING', price: 50 });
    else if (kind === 'close') await this.#visit(10_000);
    else if (kind === 'trigger') await this.#visit(40);
    else sandbox.tick();
    await this.record();
  }

  /** The places of what was shown of one track; each is searched from the one before it on. */
  places(track: keyof Shown, shown: readonly (string | null)[]): number[] {
    const states = this.#states.map((state) => state[track]);
    let from = 0;
    return shown.map((text) => {
      const place = states.indexOf(text, from);
      if (place >= 0) from = place;
      return place;
    });
  }

  async #visit(price: number): Promise<void> {
    this.#world.sandbox.putPrice('TSLA', price);
    await this.record();
    this.#world.sandbox.putPrice('TSLA', USUAL_PRICE);
  }

  async #place(terms: { readonly kind: string; readonly price?: number }): Promise<void> {
    const { witness, sandbox } = this.#world;
    this.#orders += 1;
    const input = { ...TSLA, ...terms, idempotencyKey: `order ${this.#orders}` };
    // Under the same key it is one order, however often it is repeated.
    await eventually(async () => {
      const { data, errors } = await witness.query(PLACE, {
        token: sandbox.token({ email: EMAIL }),
        variables: { input },
      });
      if (data?.placeOrder?.__typename === 'OrderAccepted') return;
      throw new Error(`The order was not placed: ${JSON.stringify({ data, errors })}`);
    });
  }
}

/** Of a state that a listener was told. */
export function shownBy(state: PositionsState | AccountState): Shown {
  const positions = state.totals && prints(state.positions);
  if (!('session' in state)) return { positions, orders: null, balance: null };
  const { orders, session } = state;
  return { positions, orders: orders && listed(orders), balance: session && `${session.balance}` };
}

function shownOf({ positions, session }: Gateways): Shown {
  return {
    positions: prints(positions),
    orders: listed(session.orders),
    balance: `${session.balance}`,
  };
}

interface Gateways {
  readonly positions: readonly (Row & { readonly profit: number })[];
  readonly session: {
    readonly balance: number;
    readonly orders: readonly (Row & { readonly priceOpen: number })[];
  };
}

function listed(orders: readonly (Row & { readonly priceOpen: number | null })[]): string {
  return orders.map(({ id, priceOpen }) => `${id}:${priceOpen}`).join();
}
