/** The form of a selection: by itself, in an inline fragment, or in a named one that others may share. */
export type Form = 'plain' | 'inline' | 'fragment';

export const FORMS: readonly Form[] = ['plain', 'inline', 'fragment'];

export interface DraftArgument {
  readonly name: string;
  readonly value: unknown;
  readonly isVariable: boolean;
}

/** One selected field of a document that is still being changed. */
export interface Selection {
  /** The object type whose field it is: a type condition, where the place is of an abstract type. */
  readonly on: string;
  readonly name: string;
  readonly args: readonly DraftArgument[];
  readonly below: readonly Selection[];
  readonly form: Form;
  /** The number of repeats of the very same text at this place: validation compares such fields in pairs. */
  readonly times: number;
}

export type Draft = readonly Selection[];

/** The path of a selection: an index for each level. */
export type Path = readonly number[];

export function pathsOf(draft: Draft, above: Path = []): Path[] {
  return draft.flatMap((selection, index) => {
    const path = [...above, index];
    return [path, ...pathsOf(selection.below, path)];
  });
}

export function selectionAt(draft: Draft, [index = 0, ...rest]: Path): Selection {
  const selection = draft[index];
  if (!selection) throw new Error(`nothing stands at ${index}`);
  return rest.length === 0 ? selection : selectionAt(selection.below, rest);
}

/** The draft with others, or none, in place of one selection. */
export function replaceAt(
  draft: Draft,
  [index = 0, ...rest]: Path,
  change: (selection: Selection) => readonly Selection[],
): Draft {
  return draft.flatMap((selection, at) => {
    if (at !== index) return [selection];
    if (rest.length === 0) return change(selection);
    return [{ ...selection, below: replaceAt(selection.below, rest, change) }];
  });
}
