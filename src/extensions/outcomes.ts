import { type GraphQLResolveInfo, type GraphQLSchema, getNamedType, isAbstractType } from 'graphql';
import { memo } from '../../lib/memo.ts';
import type { Context } from '../schema/context.ts';

type Path = GraphQLResolveInfo['path'];

/** The names of the contract's types that say what a write has done. */
export function typesOfOutcomes(
  schema: GraphQLSchema,
  additions: ReadonlyMap<string, string>,
): ReadonlySet<string> {
  const writes = Object.values(schema.getMutationType()?.getFields() ?? {});
  const types = writes
    .filter(({ name }) => !additions.has(`Mutation.${name}`))
    .map(({ type }) => getNamedType(type))
    .flatMap((type) => (isAbstractType(type) ? schema.getPossibleTypes(type) : type));
  return new Set(types.map(({ name }) => name));
}

/**
 * Makes the function that says how long a field of an extension may take where it is selected below the outcome of a write:
 * however deep its fields nest, an outcome waits for them no longer than `ms` in sum.
 */
export function createOutcomeBudgets(outcomes: ReadonlySet<string>, ms: number) {
  const ends = new WeakMap<Context, Map<string | number, number>>();

  return (context: Context, path: Path): number => {
    const key = outcomeAbove(path, outcomes);
    if (key === null) return Number.POSITIVE_INFINITY;
    const ofContext = memo(ends, context, () => new Map<string | number, number>());
    const now = performance.now();
    const end = memo(ofContext, key, () => now + ms);
    // A field that needs no time is answered all the same.
    return Math.max(1, end - now);
  };
}

/** The root's key of the outcome below which a field is selected; null where it is below none. */
function outcomeAbove(path: Path, outcomes: ReadonlySet<string>): string | number | null {
  let isBelow = false;
  for (let at: Path | undefined = path; at !== undefined; at = at.prev) {
    isBelow ||= at.typename !== undefined && outcomes.has(at.typename);
    if (at.prev === undefined) return isBelow ? at.key : null;
  }
  return null;
}
