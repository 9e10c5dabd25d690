import { OPERATION_NAMES, OPERATIONS, type OperationName } from '../gateway/operations.ts';

export interface Route {
  readonly operation: OperationName;
  /** The name of the call in the operation's file. */
  readonly call: string;
  /** The decoded values of the path's `{parameters}`. */
  readonly params: Readonly<Record<string, string>>;
}

interface Row extends Omit<Route, 'params'> {
  readonly verb: string;
  readonly pattern: RegExp;
}

const PARAMETER = /\{(\w+)\}/;

/** Finds the operation, and its call, of an HTTP method and a path. */
export class Routes {
  readonly #rows: readonly Row[];

  constructor(mobileWallet: string) {
    const rows = OPERATION_NAMES.flatMap((operation) =>
      Object.entries<Sent>(OPERATIONS[operation].calls).map(([call, { method, path }]) => ({
        operation,
        call,
        verb: method,
        path: path.replace('{provider}', encodeURIComponent(mobileWallet)),
      })),
    );
    // A path without a parameter precedes one with a parameter in its place.
    const sorted = rows.toSorted((a, b) => parametersIn(a.path) - parametersIn(b.path));
    this.#rows = sorted.map(({ path, ...row }) => ({ ...row, pattern: patternOf(path) }));
  }

  /** Returns null if no operation has this method and path. */
  find(verb: string, path: string): Route | null {
    for (const { operation, call, pattern, verb: own } of this.#rows) {
      const match = own === verb ? pattern.exec(path) : null;
      const params = match && decoded(match.groups ?? {});
      if (params !== null) return { operation, call, params };
    }
    return null;
  }
}

interface Sent {
  readonly method: string;
  readonly path: string;
}

function parametersIn(path: string): number {
  return path.split(PARAMETER).length;
}

function patternOf(path: string): RegExp {
  // The literal parts and the names alternate.
  const parts = path
    .split(PARAMETER)
    .map((part, index) =>
      index % 2 === 0 ? part.replace(/[^\w/]/g, '\\$&') : `(?<${part}>[^/]+)`,
    );
  return new RegExp(`^${parts.join('')}$`);
}

function decoded(groups: Readonly<Record<string, string>>): Record<string, string> | null {
  try {
    return Object.fromEntries(
      Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]),
    );
  } catch {
    return null;
  }
}
