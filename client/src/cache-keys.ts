import { typesWithoutId } from './generated/types-without-id.ts';

/**
 * Relay's `getDataID`: the type and the id, because an order and the position that it became have the same number. Objects
 * of types without an id belong to their parent object.
 */
export function getDataID(
  object: Readonly<Record<string, unknown>>,
  typename: string,
): string | null {
  const { id } = object;
  const hasKey = typeof id === 'string' && !typesWithoutId.includes(typename);
  return hasKey ? `${typename}:${id}` : null;
}

/** The `keys` of urql's Graphcache: objects of these types belong to their parent object. */
export const keys: Readonly<Record<string, () => null>> = /* @__PURE__ */ Object.fromEntries(
  /* @__PURE__ */ typesWithoutId.map((typename) => [typename, () => null]),
);
