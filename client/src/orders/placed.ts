import type { TypedText } from '../operation.ts';
import { MAX_MS } from '../request/deadline.ts';
import { unsendable } from '../request/finite-variables.ts';
import { canonicalInput } from './canonical-input.ts';
import { digestOf } from './digest.ts';
import { type Keyed, PLACE_LIMIT_ORDER, PLACE_ORDER } from './operations.ts';
import type { LimitOrderInput, OrderInput } from './order-input.ts';
import type { OrderAnswer } from './outcome.ts';

/** An older market order could be carried out at another price than the user has seen. */
const MARKET_WAIT_MS = 5_000;

type AnyInput = OrderInput | LimitOrderInput;

/** A checked copy of an order's input, with the mutation that places it. */
export interface Placed {
  readonly operation: TypedText<OrderAnswer, Keyed<AnyInput>>;
  readonly input: AnyInput;
  /** How long the order can be sent, if the app sets no time. */
  readonly maxWaitMs: number;
  /** Differs between different orders, and between keys, so that the storage does not show which orders are equal. */
  digest(key: string): string;
}

/**
 * An order at the market, or one that waits for its price. Throws a TradingGraphError for an input that cannot be sent, or
 * without a `kind`: an order that lost its price must not become one at the market.
 */
export function placedOrder(given: OrderInput): Placed {
  const input = copyOf(given);
  if (!('kind' in input)) {
    throw unsendable('input.kind', "is missing: 'MARKET', or 'PENDING' with a price");
  }
  const maxWaitMs = input.kind === 'MARKET' ? MARKET_WAIT_MS : MAX_MS;
  return placed('order', PLACE_ORDER as Placed['operation'], input, maxWaitMs);
}

/** An order that always waits for its price. The server refuses such an order with a `kind`. */
export function placedLimitOrder(given: LimitOrderInput): Placed {
  return placed('limit order', PLACE_LIMIT_ORDER as Placed['operation'], copyOf(given), MAX_MS);
}

function placed(
  /** Part of the stored digest, so it must never change. */
  name: 'order' | 'limit order',
  operation: Placed['operation'],
  input: AnyInput,
  maxWaitMs: number,
): Placed {
  const compared = JSON.stringify(input);
  return { operation, input, maxWaitMs, digest: (key) => digestOf(`${key} ${name} ${compared}`) };
}

function copyOf<Input extends AnyInput>(given: Input): Input {
  return JSON.parse(canonicalInput(given));
}
