import { Kind, type SelectionSetNode } from 'graphql';
import type { Fragments } from './shape.ts';

interface Place {
  times: number;
  readonly inner: Places;
}

type Places = Map<string, Place>;

/**
 * How many pairs of selections meet at the same place of the answer. Validation compares them two by
 * two, so a field that is repeated a thousand times costs it half a million comparisons. Fragments
 * are unfolded: there must be an end to them, and not too many.
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
        // Fragments are compared with one another like fields, even where they hold none in common.
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
