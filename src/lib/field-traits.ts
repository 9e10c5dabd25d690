/** The facts that a schema states about a field, an argument or a type. The engine acts on them without knowing the schema. */
interface FieldTraits {
  /** The argument limits the age of a read that several fields of an operation share. */
  readonly isAgeLimit?: boolean;
  /** Names the data that the field reads: the plan of an operation collects the names of its fields. */
  readonly reads?: string;
  /** True if the field's selection has a read plan of its own, as the fields of a mutation's root do. */
  readonly readsApart?: boolean;
  /** The maximum of the list's entries, or the name of the things that it has one entry for. */
  readonly listSize?: string | number;
  /** The argument that has one value per entry of the list; `listSize` is then the maximum. */
  readonly sizeArgument?: string;
  /** With this argument the field scans all things of that name, and its cost includes them. */
  readonly scans?: string;
  /** How often an operation may select this field of the root. */
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

/** A trait as the schema states it; undefined if the schema does not state it. */
export function traitOf<Trait extends keyof FieldTraits>(
  { extensions }: Extended,
  trait: Trait,
): FieldTraits[Trait] {
  return extensions[trait] as FieldTraits[Trait];
}
