import { OPERATION_NAMES, OPERATIONS, type OperationName } from '../gateway/operations.ts';

export interface Route {
  readonly operation: OperationName;
  /** The decoded values of the path's `{parameters}`. */
  readonly params: Readonly<Record<string, string>>;
}

export type Routing = Route | 'unknown' | 'wrong-method' | 'bad-encoding';

interface Row {
  readonly operation: OperationName;
  readonly verb: string;
  readonly path: string;
}

const PARAMETER = /\{(\w+)\}/;

/** Finds the operation of an HTTP method and a path in the operations' table. */
export function createRoutes(mobileWallet: string): (verb: string, path: string) => Routing {
  return createRouter(
    OPERATION_NAMES.map((operation) => {
      const { verb, path } = OPERATIONS[operation];
      return {
        operation,
        verb,
        path: path.replace('{provider}', encodeURIComponent(mobileWallet)),
      };
    }),
  );
}

/** A path without a parameter precedes one with a parameter in its place. */
export function createRouter(rows: readonly Row[]): (verb: string, path: string) => Routing {
  const isOpen = ({ path }: Row) => PARAMETER.test(path);
  const fixed = rows.filter((row) => !isOpen(row));
  const operations = new Map(
    fixed.map(({ verb, path, operation }) => [`${verb} ${path}`, operation]),
  );
  const paths = new Set(fixed.map(({ path }) => path));
  const open = rows.filter(isOpen).map((row) => ({ ...row, pattern: patternOf(row.path) }));

  return (verb, path) => {
    const operation = operations.get(`${verb} ${path}`);
    if (operation !== undefined) return { operation, params: {} };
    let isKnown = paths.has(path);
    for (const row of open) {
      const match = row.pattern.exec(path);
      if (match === null) continue;
      isKnown = true;
      if (row.verb !== verb) continue;
      const params = decoded(match.groups ?? {});
      return params === null ? 'bad-encoding' : { operation: row.operation, params };
    }
    return isKnown ? 'wrong-method' : 'unknown';
  };
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
