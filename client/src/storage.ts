/**
 * Where the client keeps data that outlives the app: texts under keys. A rejected promise means that the text may not be
 * stored.
 */
export interface ClientStorage {
  get(key: string): Promise<string | null>;
  /** Resolves when the text is on the disk. */
  set(key: string, text: string): Promise<void>;
  delete(key: string): Promise<void>;
  /** The keys that begin with the prefix. */
  keys(prefix: string): Promise<readonly string[]>;
}
