import { type ExecutionResult, GraphQLError } from 'graphql';
import { type Meter, OverBudgetError } from './meter.ts';

/**
 * Finishes a run that may have exceeded its budget. A query or an event is replaced by the one
 * error. A mutation keeps its outcomes: only the reads that were cut short become null, each with
 * its error.
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

/** A read of a mutation is a direct child of the field that writes. */
function setNull(data: Record<string, unknown>, [write, read]: readonly (string | number)[]): void {
  const outcome = data[String(write)];
  if (typeof outcome !== 'object' || outcome === null || read === undefined) return;
  (outcome as Record<string, unknown>)[String(read)] = null;
}
