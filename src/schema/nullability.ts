/** Options of a field that is never null, as in `t.exposeFloat('min', nonNull('…'))`. */
export function nonNull<const Traits extends object>(description: string, of?: Traits) {
  return { ...of, nullable: false, description } as const;
}

/** Options of a field that may be null. */
export function nullable<const Traits extends object>(description: string, of?: Traits) {
  return { ...of, nullable: true, description } as const;
}
