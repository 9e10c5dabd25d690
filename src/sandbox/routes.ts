import { OPERATION_NAMES, OPERATIONS, type OperationName } from '../gateway/operations.ts';

export interface Route {
  readonly operation: OperationName;
  /** The name of the call in the operation's file. */
  readonly call: string;
  /** The decoded values of the path's `{parameters}`. */
  readonly params: Readonly<Record<string, string>>;
}

export type Routing = Route | 'unknown' | 'wrong-method' | 'bad-encoding';

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

  find(verb: string, path: string): Routing {
    let isKnown = false;
    for (const row of this.#rows) {
      const match = row.pattern.exec(path);
      if (match === null) continue;
      isKnown = true;
      if (row.verb !== verb) continue;
      const params = decoded(match.groups ?? {});
      if (params === null) return 'bad-encoding';
      return { operation: row.operation, call: row.call, params };
    }
    return isKnown ? 'wrong-method' : 'unknown';
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
