import type { OPERATIONS, OperationName } from './operations.ts';
import type { TimeUnit } from './wire/scalars.ts';

/**
 * A read that needs nothing but its viewer: what its row does not say. `ViewerGateway.read` calls it, and
 * `Scope.read` memoizes it.
 */
export interface Read<T> {
  readonly operation: ViewerRead;
  /** Checks the JSON of an answer and maps it; null where it breaks the interface. */
  readonly map: (body: unknown, unit: TimeUnit) => T | null;
  /** Names the shape of a valid answer, for the log. */
  readonly expected: string;
}

type Rows = typeof OPERATIONS;

/** The names of a path's `{parameters}`. */
type Parameters<Path> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Parameters<Rest>
  : never;

/**
 * The reads whose path needs at most the viewer's login. One that proves a login or a group has an answer
 * that names it, and a method of its own that hands it to the proof ledger; so has op 12, which is polled.
 */
type ViewerRead = Exclude<
  {
    [Name in OperationName]: Rows[Name] extends { effect: 'read'; proves: 'token' | 'nothing' }
      ? Parameters<Rows[Name]['path']> extends 'login'
        ? Name
        : never
      : never;
  }[OperationName],
  'getOpenPositions'
>;
