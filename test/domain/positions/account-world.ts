import type { Order, Position } from '../../../src/gateway/model.ts';
import { LOGIN } from './live-bench.ts';
import { order, position, type ScriptedGateway } from './scripted-gateway.ts';

/** An account at the gateway, whose orders become positions. An order's position is named after it. */
export class AccountWorld {
  balance = 1_000;
  #orders: readonly Order[] = [];
  #positions: readonly Position[] = [];
  /** Orders that were triggered, and those whose position has closed again. */
  readonly triggered = new Set<string>();
  readonly gone = new Set<string>();
  readonly #gateway: ScriptedGateway;
  #last = 0;

  constructor(gateway: ScriptedGateway) {
    this.#gateway = gateway;
    this.#publish();
  }

  get orders(): readonly Order[] {
    return this.#orders;
  }

  get positions(): readonly Position[] {
    return this.#positions;
  }

  place(): void {
    this.#last += 1;
    this.#orders = [...this.#orders, order(`o${this.#last}`)];
    this.#publish();
  }

  /** The market reaches an order's price. */
  trigger(at: number): void {
    const chosen = pick(this.#orders, at);
    if (!chosen) return;
    this.triggered.add(chosen.id);
    this.#orders = this.#orders.filter((each) => each !== chosen);
    this.#positions = [...this.#positions, position(positionOf(chosen.id), { units: 4 })];
    this.#publish();
  }

  /** An order is cancelled on another device: no list of positions shows it. */
  cancel(at: number): void {
    const chosen = pick(this.#orders, at);
    this.#orders = this.#orders.filter((each) => each !== chosen);
    this.#publish();
  }

  /** A stop-loss, or another device, closes a position. */
  close(at: number): void {
    const chosen = pick(this.#positions, at);
    if (!chosen) return;
    this.gone.add(orderOf(chosen.id));
    this.balance -= 1;
    this.#positions = this.#positions.filter((each) => each !== chosen);
    this.#publish();
  }

  closePartly(at: number): void {
    this.balance += 1;
    this.#change(at, ({ units }) => ({ units: (units ?? 0) / 2 }));
  }

  move(at: number, price: number): void {
    this.#change(at, () => ({ priceCurrent: price, profit: price - 10 }));
  }

  #change(at: number, fields: (position: Position) => Partial<Position>): void {
    const chosen = pick(this.#positions, at);
    this.#positions = this.#positions.map((each) =>
      each === chosen ? { ...each, ...fields(each) } : each,
    );
    this.#publish();
  }

  #publish(): void {
    this.#gateway.set(LOGIN, this.#positions);
    this.#gateway.setAccount(LOGIN, { orders: this.#orders, balance: this.balance });
  }
}

export function positionOf(orderId: string): string {
  return `p${orderId}`;
}

function orderOf(positionId: string): string {
  return positionId.slice(1);
}

function pick<T>(list: readonly T[], at: number): T | undefined {
  return list[at % Math.max(1, list.length)];
}
