import type { OrderInput } from './order-input.ts';

/** What the price says where the app does not: the server compares the two, should one be lost on its way. */
export function kindOf({ kind, price }: OrderInput): OrderInput['kind'] {
  return kind ?? (price === undefined ? 'MARKET' : 'PENDING');
}

/** Of an input as text. */
export function isAtMarket(text: string): boolean {
  return kindOf(JSON.parse(text) as OrderInput) === 'MARKET';
}

/** The price says the kind as well, so that a key of an app that did not send it yet is one of the same order. */
export function withoutKind(text: string): string {
  const { kind: _, ...compared } = JSON.parse(text) as { kind?: unknown };
  return JSON.stringify(compared);
}
