export interface HostileDocument {
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
}
