/** The audience for which a value is the same: a `group`, one `copy` of what it shares, or an `account`'s subscribers. */
export type Sharing = 'group' | 'copy' | 'account';

/** The facts that a schema states about a field, an argument or a type, and that are acted on without knowing the schema. */
interface FieldTraits {
  /** The value of a field without it is the viewer's own. */
  readonly sharing?: Sharing;
  /** The argument limits the age of a read that several fields of an operation share. */
  readonly isAgeLimit?: boolean;
  /** Names what the field reads: the plan of an operation has the names that its fields state. */
  readonly reads?: string;
  /** True where the field's selection is read by a plan of its own, as under any field of a mutation's root. */
  readonly readsApart?: boolean;
  /** Names the things that a list of it has one entry for, or is the most entries of the list. */
  readonly listSize?: string | number;
  /** The argument with one value for each entry of the list, of which `listSize` is then the most. */
  readonly sizeArgument?: string;
  /** With the argument the field scans all things of that name, and its cost includes them. */
  readonly scans?: string;
  /** An operation may select the field of the root this often. */
  readonly mostSelected?: number;
}

/** Spread this into the options of a field, an argument or a type: a misspelt trait does not compile. */
export function traits<const Traits extends FieldTraits>(
  extensions: Traits & Record<Exclude<keyof Traits, keyof FieldTraits>, never>,
) {
  return { extensions } as const;
}

interface Extended {
  readonly extensions: Readonly<{ [Trait in keyof FieldTraits]?: unknown }>;
}

/** Null where the field has no mark, or an unknown one: its value is then the viewer's own. */
export function sharingOf({ extensions: { sharing } }: Extended): Sharing | null {
  return sharing === 'group' || sharing === 'copy' || sharing === 'account' ? sharing : null;
}

/**
 * Whether the field may be resolved in a later turn where an answer is made in slices: with arguments it may compute
 * much. A read of the viewer's own computes nothing, and is better begun than put off.
 */
export function isPostponable(field: Extended & { readonly args: readonly unknown[] }): boolean {
  return field.args.length > 0 && sharingOf(field) !== null;
}

/** A trait as the schema states it; undefined where it does not. */
export function traitOf<Trait extends keyof FieldTraits>(
  { extensions }: Extended,
  trait: Trait,
): FieldTraits[Trait] {
  return extensions[trait] as FieldTraits[Trait];
}
