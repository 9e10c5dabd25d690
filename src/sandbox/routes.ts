import { OPERATION_NAMES, OPERATIONS, type OperationName } from '../gateway/operations.ts';

export interface Route {
  readonly operation: OperationName;
  /** The name of the call in the operation's file. */
  readonly call: string;
  /** The decoded values of the path's `{parameters}`. */
  readonly params: Readonly<Record<string, string>>;
}

export type Routing = Route | 'unknown' | 'wrong-method' | 'bad-encoding';

interface Row {
  readonly operation: OperationName;
  readonly call: string;
  readonly verb: string;
  readonly path: string;
}

interface Sent {
  readonly method: string;
  readonly path: string;
}

const PARAMETER = /\{(\w+)\}/;

/** Finds the operation, and its call, of an HTTP method and a path. */
export function createRoutes(mobileWallet: string): (verb: string, path: string) => Routing {
  return createRouter(
    OPERATION_NAMES.flatMap((operation) => {
      const calls: Readonly<Record<string, Sent>> = OPERATIONS[operation].calls;
      return Object.entries(calls).map(([call, { method, path }]) => ({
        operation,
        call,
        verb: method,
        path: path.replace('{provider}', encodeURIComponent(mobileWallet)),
      }));
    }),
  );
}

/** A path without a parameter precedes one with a parameter in its place. */
function createRouter(rows: readonly Row[]): (verb: string, path: string) => Routing {
  const isOpen = ({ path }: Row) => PARAMETER.test(path);
  const fixed = rows.filter((row) => !isOpen(row));
  const byRequest = new Map(
    fixed.map(({ verb, path, operation, call }) => [`${verb} ${path}`, { operation, call }]),
  );
  const paths = new Set(fixed.map(({ path }) => path));
  const open = rows.filter(isOpen).map((row) => ({ ...row, pattern: patternOf(row.path) }));

  return (verb, path) => {
    const found = byRequest.get(`${verb} ${path}`);
    if (found !== undefined) return { ...found, params: {} };
    let isKnown = paths.has(path);
    for (const row of open) {
      const match = row.pattern.exec(path);
      if (match === null) continue;
      isKnown = true;
      if (row.verb !== verb) continue;
      const params = decoded(match.groups ?? {});
      if (params === null) return 'bad-encoding';
      return { operation: row.operation, call: row.call, params };
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
