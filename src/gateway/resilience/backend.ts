import { type Effect, OPERATIONS, type OperationName } from '../operations.ts';

/**
 * The units of failure: the trading reads, the orders, and of the rest each service by its path.
 * One breaker for all the rest would keep people from signing in because payments are down.
 */
export function backendOf(operation: OperationName): string {
  const { area, path } = OPERATIONS[operation];
  return area === 'rest' ? (path.split('/')[1] ?? area) : area;
}

/** Maps each operation to its backend once, so that no call has to compute it. */
export function byOperation<T>(
  byBackend: ReadonlyMap<string, T>,
): Readonly<Record<OperationName, T | undefined>> {
  const names = Object.keys(OPERATIONS) as OperationName[];
  const found = names.map((name) => [name, byBackend.get(backendOf(name))] as const);
  return Object.fromEntries(found) as Record<OperationName, T | undefined>;
}

/** All backends, or those with operations of one effect. */
export function listBackends(effect?: Effect): ReadonlySet<string> {
  const names = Object.keys(OPERATIONS) as OperationName[];
  const chosen = names.filter((name) => !effect || OPERATIONS[name].effect === effect);
  return new Set(chosen.map(backendOf));
}
