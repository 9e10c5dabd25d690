import { type ExecutionResult, GraphQLError } from 'graphql';
import { type Meter, OverBudgetError } from './meter.ts';

/**
 * What is answered by a run that may have passed its budget. A query or an event ends with the one
 * error. A mutation's outcomes stand, whatever its reads cost: each read that was cut short is null as
 * a whole, with its error.
 */
export function withinBudget(
  result: ExecutionResult,
  meter: Meter,
  isMutation: boolean,
): ExecutionResult {
  if (!meter.isOver) return result;
  return isMutation ? withoutCutReads(result, meter) : { data: null, errors: [meter.error()] };
}

function withoutCutReads({ data, errors = [] }: ExecutionResult, meter: Meter): ExecutionResult {
  const cutReads = new Map<string, GraphQLError>();
  for (const { originalError, path = [], nodes } of errors) {
    if (!(originalError instanceof OverBudgetError)) continue;
    const read = path.slice(0, 2);
    const name = read.join(' ');
    if (cutReads.has(name)) continue;
    const { message, extensions } = meter.error();
    cutReads.set(name, new GraphQLError(message, { nodes, path: read, extensions }));
    if (data) setNull(data, read);
  }
  const others = errors.filter(({ path = [] }) => !cutReads.has(path.slice(0, 2).join(' ')));
  return { data: data ?? null, errors: [...others, ...cutReads.values()] };
}

/** A read of a mutation stands right below the field that writes. */
function setNull(data: Record<string, unknown>, [write, read]: readonly (string | number)[]): void {
  const outcome = data[String(write)];
  if (typeof outcome !== 'object' || outcome === null || read === undefined) return;
  (outcome as Record<string, unknown>)[String(read)] = null;
}
