import { expect } from 'vitest';
import { InputError } from '../../../../src/domain/input-error.ts';
import type { Placed } from '../../../../src/domain/trading/orders.ts';
import type { Exchange } from '../../../../src/gateway/exchange.ts';
import { closingOf, type OrderRecord } from '../../../../src/store/order-records.ts';
import { isAllowed } from './run.ts';
import { type End, FREEING, type Operation, type Scenario } from './scenario.ts';

/** An order that a replica has handed to the wire. */
export interface Call {
  readonly replica: number;
  readonly symbol: string;
  readonly sendBeforeMs: number | null;
  readonly answer: (exchange: Exchange) => void;
  isSent: boolean;
  end: End | null;
}

export interface Answer {
  readonly operation: Operation;
  readonly result: Placed | Error | null;
}

export interface Ended {
  readonly scenario: Scenario;
  readonly answers: readonly Answer[];
  readonly calls: readonly Call[];
  /** The record in the end. */
  readonly final: OrderRecord | null;
  readonly dead: ReadonlySet<number>;
}

export function assertRules({ scenario, answers, calls, final, dead }: Ended): void {
  const living = scenario.operations.filter(({ at }) => !dead.has(at));
  expect(answers.map(({ operation }) => operation)).toEqual(expect.arrayContaining(living));

  // Sent once, and again only after the gateway had surely not taken it.
  const sent = calls.filter(({ isSent }) => isSent);
  const kept = sent.filter(({ end }) => end === null || !FREEING.includes(end));
  expect(kept.length, 'orders that may have been carried out').toBeLessThanOrEqual(1);
  if (kept[0]) expect(sent.at(-1), 'sent after it may have been carried out').toBe(kept[0]);

  const isClosed = final !== null && closingOf(final) !== null;
  if (isClosed) expect(kept, 'sent, and closed').toEqual([]);
  if (kept.length > 0) expect(final, 'sent, and forgotten').not.toBe(null);

  const outcomes = answers.flatMap((answer) => outcomeIn(answer));
  for (const outcome of outcomes) {
    expect(final, `${outcome}, and forgotten`).not.toBe(null);
    expect(outcome === 'VOIDED', `${outcome}, and closed: ${isClosed}`).toBe(isClosed);
    if (outcome === 'EXPIRED') expect(kept, 'too late, and sent').toEqual([]);
    if (outcome === 'accepted') expect(kept[0]?.end).toBe('accepted');
    if (outcome === 'rejected') expect(kept[0]?.end).toBe('rejected');
  }
  const known = outcomes.filter((outcome) => outcome !== 'unknown');
  if (final?.outcome && final.outcome.kind !== 'unknown') known.push(wordOf(final.outcome));
  expect(new Set(known).size, `${known}`).toBeLessThanOrEqual(1);
  const first = answers.filter(({ result }) => isOutcome(result) && !result.replayed);
  expect(first.length, 'answered as new').toBeLessThanOrEqual(1);

  for (const { operation, result } of answers) {
    if (operation.do === 'void') expect(result, 'the answer to a void').not.toBe(null);
    if (!(result instanceof Error)) continue;
    if (!isAllowed(result)) throw result;
    if (!(result instanceof InputError)) continue;
    const isOfTwo = scenario.operations.some(({ isOther }) => isOther);
    expect(isOfTwo, 'refused as another order').toBe(true);
  }
}

function outcomeIn({ result }: Answer): string[] {
  if (!isOutcome(result)) return [];
  return [wordOf(result.outcome)];
}

function isOutcome(result: Placed | Error | null): result is Placed {
  return result !== null && !(result instanceof Error);
}

function wordOf(outcome: NonNullable<OrderRecord['outcome']>): string {
  return outcome.kind === 'rejected' && outcome.sent === false ? `${outcome.error}` : outcome.kind;
}
