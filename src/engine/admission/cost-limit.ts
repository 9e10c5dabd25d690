import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import type { Client } from '../../lib/limits/client.ts';
import { type CostInputs, evaluate } from '../documents/amount.ts';
import type { CoercedVariables } from '../documents/coerce-variables.ts';
import type { PreparedOperation } from '../documents/documents.ts';
import { Meter } from '../documents/meter.ts';
import { tooComplex } from '../documents/structure.ts';
import { type Refusal, refused } from '../operation/refusal.ts';
import type { ChargedRequest } from './client-limits.ts';
import type { Operation } from './operation.ts';

export interface CostLimitOptions {
  /** The most fields that an answer may contain. */
  readonly maxCost: number;
  readonly scheduler: FairScheduler;
  /** Returns the number of entries of a list whose size the schema names, as far as its client may learn it. */
  readonly sizeOf: (name: string, client: Client) => number;
  /** Whether others see the result, as a tree, before it is serialized. */
  readonly keepsTree: boolean;
}

interface OperationPrice extends Pick<Operation, 'inputs' | 'cost' | 'meter'> {
  readonly kind: 'price';
}

/** Refuses an operation whose answer could be too large, and makes the meter that counts the fields of all others. */
export function priceOperation(
  { maxCost, scheduler, sizeOf, keepsTree }: CostLimitOptions,
  { node, cost: amount }: PreparedOperation,
  { variables }: CoercedVariables,
  { client, caller }: Pick<ChargedRequest, 'client' | 'caller'>,
): OperationPrice | Refusal {
  const inputs: CostInputs = { variables, sizeOf: (name) => sizeOf(name, client) };
  const cost = evaluate(amount, inputs);
  if (cost > maxCost) return refused([tooComplex('MAX_COST', cost, maxCost)]);
  const meter = new Meter({
    maxFields: maxCost,
    scheduler,
    client: client.key,
    estimate: cost,
    keepsTree,
    signal: node.operation === 'query' ? caller.signal : undefined,
    isWrite: node.operation === 'mutation',
  });
  return { kind: 'price', inputs, cost, meter };
}
