/** A part of the report that is found before the gateway is called. */
export interface Section {
  /** One line for each, as a start lists them. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}
