import type { TypedText } from '../operation.ts';
import { MAX_MS } from '../request/deadline.ts';
import { unsendable } from '../request/finite-variables.ts';
import { canonicalInput } from './canonical-input.ts';
import { digestOf } from './digest.ts';
import { type Keyed, PLACE_LIMIT_ORDER, PLACE_ORDER } from './operations.ts';
import type { LimitOrderInput, OrderInput } from './order-input.ts';
import type { OrderAnswer } from './outcome.ts';

/** The user has seen a price, which is another one by then. */
const MARKET_WAIT_MS = 5_000;

type AnyInput = OrderInput | LimitOrderInput;

/** A checked copy of an order's input, with the mutation that places it. */
export interface Placed {
  readonly operation: TypedText<OrderAnswer, Keyed<AnyInput>>;
  readonly input: AnyInput;
  /** How long it may be sent, where the app does not say it. */
  readonly maxWaitMs: number;
  /** Differs between orders that differ, and between keys, so that the storage does not show which orders are equal. */
  digest(key: string): string;
}

/**
 * An order at the market, or one that waits for its price. Throws a TradingGraphError for an input that cannot be sent, or without a
 * `kind`: filled in from a price that got lost, it would be the market's.
 */
export function placedOrder(given: OrderInput): Placed {
  const input = copyOf(given);
  if (!('kind' in input)) {
    throw unsendable('input.kind', "is missing: 'MARKET', or 'PENDING' with a price");
  }
  const maxWaitMs = input.kind === 'MARKET' ? MARKET_WAIT_MS : MAX_MS;
  return placed('order', PLACE_ORDER as Placed['operation'], input, maxWaitMs);
}

/** An order that always waits for its price. The server refuses one with a `kind`. */
export function placedLimitOrder(given: LimitOrderInput): Placed {
  return placed('limit order', PLACE_LIMIT_ORDER as Placed['operation'], copyOf(given), MAX_MS);
}

function placed(
  /** Part of the digest in storage, and so never another one. */
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
