import { OPERATION_NAMES, OPERATIONS, type OperationName } from '../gateway/operations.ts';

export interface Route {
  readonly operation: OperationName;
  /** The name of the call in the operation's file. */
  readonly call: string;
  /** Whether it is the operation's first call. An order's look-ups are further ones. */
  readonly isFirst: boolean;
  /** The decoded values of the path's `{parameters}`. */
  readonly params: Readonly<Record<string, string>>;
}

interface Row extends Omit<Route, 'params'> {
  readonly verb: string;
  readonly pattern: RegExp;
}

const PARAMETER = /\{(\w+)\}/;

/** Finds the operation for an HTTP method and a path, and which of the operation's calls has them. */
export class Routes {
  readonly #rows: readonly Row[];

  constructor(mobileWallet: string) {
    const rows = OPERATION_NAMES.flatMap((operation) =>
      Object.entries<HttpCall>(OPERATIONS[operation].calls).map(
        ([call, { method, path }], index) => ({
          operation,
          call,
          isFirst: index === 0,
          verb: method,
          path: path.replace('{provider}', encodeURIComponent(mobileWallet)),
        }),
      ),
    );
    // A path without a parameter precedes one with a parameter in its place.
    const sorted = rows.toSorted((a, b) => parametersIn(a.path) - parametersIn(b.path));
    this.#rows = sorted.map(({ path, ...row }) => ({ ...row, pattern: patternOf(path) }));
  }

  /** Returns null if no operation has this method and path. */
  find(verb: string, path: string): Route | null {
    for (const row of this.#rows) {
      const match = row.verb === verb ? row.pattern.exec(path) : null;
      const params = match && decoded(match.groups ?? {});
      if (params === null) continue;
      const { operation, call, isFirst } = row;
      return { operation, call, isFirst, params };
    }
    return null;
  }
}

interface HttpCall {
  readonly method: string;
  readonly path: string;
}

function parametersIn(path: string): number {
  return path.split('{').length - 1;
}

function patternOf(path: string): RegExp {
  // Splitting by a pattern with a group keeps the group: the literal parts and the parameters' names alternate.
  const parts = path.split(PARAMETER).map((part, index) => {
    const isLiteral = index % 2 === 0;
    return isLiteral ? part.replace(/[^\w/]/g, '\\$&') : `(?<${part}>[^/]+)`;
  });
  return new RegExp(`^${parts.join('')}$`);
}

/** Null if a value is not validly encoded. */
function decoded(groups: Readonly<Record<string, string>>): Record<string, string> | null {
  try {
    return Object.fromEntries(
      Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]),
    );
  } catch {
    return null;
  }
}
