import { Kind, type SelectionSetNode } from 'graphql';
import type { Fragments } from './shape.ts';

interface Place {
  times: number;
  readonly inner: Places;
}

type Places = Map<string, Place>;

/**
 * Counts the pairs of selections that share a place in the answer. Validation compares them
 * pairwise, so a field repeated a thousand times costs half a million comparisons. Fragments are
 * unfolded, so they must be acyclic and few.
 */
export function repeatedPairs(selectionSet: SelectionSetNode, fragments: Fragments): number {
  let pairs = 0;

  function enter({ selections }: SelectionSetNode, places: Places): void {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        const place = placeOf(places, (selection.alias ?? selection.name).value);
        pairs += place.times;
        place.times += 1;
        if (selection.selectionSet) enter(selection.selectionSet, place.inner);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        enter(selection.selectionSet, places);
      } else {
        // Validation compares fragments pairwise like fields, even where they have none in common.
        const place = placeOf(places, '...');
        pairs += place.times;
        place.times += 1;
        const fragment = fragments.get(selection.name.value);
        if (fragment) enter(fragment.selectionSet, places);
      }
    }
  }

  enter(selectionSet, new Map());
  return pairs;
}

function placeOf(places: Places, key: string): Place {
  const known = places.get(key);
  if (known) return known;
  const place: Place = { times: 0, inner: new Map() };
  places.set(key, place);
  return place;
}
