import {
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { Context } from '../schema/context.ts';

type Path = GraphQLResolveInfo['path'];

/**
 * The contract's types that say what a write has done. `all`: with those whose objects a null takes along up to such an
 * outcome, or to all outcomes of a request.
 */
export function typesOfOutcomes(schema: GraphQLSchema, additions: ReadonlyMap<string, string>) {
  const all = new Set(['Mutation']);
  const add = (type: GraphQLNamedType) => {
    for (const each of isAbstractType(type) ? schema.getPossibleTypes(type) : [type]) {
      if (!isObjectType(each) || all.has(each.name)) continue;
      all.add(each.name);
      for (const field of Object.values(each.getFields())) {
        if (isNonNullType(field.type)) add(getNamedType(field.type));
      }
    }
  };
  const writes = Object.values(schema.getMutationType()?.getFields() ?? {});
  const types = writes
    .filter(({ name }) => !additions.has(`Mutation.${name}`))
    .map(({ type }) => getNamedType(type));
  const own = types.flatMap((type) =>
    isAbstractType(type) ? schema.getPossibleTypes(type) : type,
  );
  types.forEach(add);
  return { own: new Set(own.map(({ name }) => name)), all } as const;
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
    const known = ends.get(context) ?? new Map<string | number, number>();
    ends.set(context, known);
    const now = performance.now();
    const end = known.get(key) ?? now + ms;
    known.set(key, end);
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
