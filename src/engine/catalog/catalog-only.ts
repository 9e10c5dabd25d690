import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';

/** What is known of an operation that reads nothing but the catalog. */
export interface CatalogUse {
  /** Selects what one version's copies differ in, such as its age: its answers cannot be held. */
  readonly selectsTime: boolean;
}

const CATALOG_ROOTS = new Set(['catalog', 'instrument', 'instruments', '__typename']);
const USER_FIELDS = new Set(['positions', 'orders']);
const TIME_FIELDS = new Set(['ageSeconds', 'stale', 'fetchedAt', 'expiresAt', 'skipped']);

/**
 * Null where a field of the user's is selected: then no cache of any kind may keep the answer. Of
 * what can be reached from the catalog only instruments have such fields, by these names.
 */
export function catalogUseOf(
  document: DocumentNode,
  operation: OperationDefinitionNode,
): CatalogUse | null {
  if (operation.operation !== 'query') return null;
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      fragments.set(definition.name.value, definition);
    }
  }
  const below = new Set<string>();
  const roots = new Set<string>();
  collect(operation.selectionSet, roots, below, fragments, new Set());
  if (![...roots].every((name) => CATALOG_ROOTS.has(name))) return null;
  // Nothing but its own name: there is no version to speak of.
  if (below.size === 0) return null;
  for (const name of below) if (USER_FIELDS.has(name)) return null;
  return { selectsTime: [...below].some((name) => TIME_FIELDS.has(name)) };
}

function collect(
  { selections }: SelectionSetNode,
  here: Set<string>,
  below: Set<string>,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  seen: Set<string>,
): void {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      here.add(selection.name.value);
      if (selection.selectionSet) {
        collect(selection.selectionSet, below, below, fragments, seen);
      }
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      collect(selection.selectionSet, here, below, fragments, seen);
    } else {
      const name = selection.name.value;
      // Apart for the root and what is below: the same fragment can stand at both.
      const place = here === below ? `${name}/` : name;
      const fragment = fragments.get(name);
      if (!fragment || seen.has(place)) continue;
      seen.add(place);
      collect(fragment.selectionSet, here, below, fragments, seen);
    }
  }
}
