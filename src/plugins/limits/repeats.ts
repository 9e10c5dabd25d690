import { Kind, type SelectionSetNode } from 'graphql';
import { type Fragments, responseKey, unfold } from '../documents/selections.ts';

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

  const enter = (inside: SelectionSetNode, places: Places): void =>
    unfold(inside, fragments, (selection) => {
      const isField = selection.kind === Kind.FIELD;
      // Validation compares fragments pairwise like fields, even where they have none in common.
      const place = placeOf(places, isField ? responseKey(selection) : '...');
      pairs += place.times;
      place.times += 1;
      if (isField && selection.selectionSet) enter(selection.selectionSet, place.inner);
    });

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
