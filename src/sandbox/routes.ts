import { OPERATIONS, type OperationName } from '../gateway/operations.ts';

export interface Route {
  readonly operation: OperationName;
  readonly param: string;
}

export type Routing = Route | 'unknown' | 'wrong-method' | 'bad-encoding';

/** Finds the operation of an HTTP method and a path in the operations' table. */
export function createRoutes(mobileWallet: string): (verb: string, path: string) => Routing {
  const fixed = new Map<string, OperationName>();
  const open: { verb: string; prefix: string; operation: OperationName }[] = [];
  const paths = new Set<string>();
  for (const name of Object.keys(OPERATIONS) as OperationName[]) {
    const { verb, path } = OPERATIONS[name];
    const filled = path.replace('{provider}', encodeURIComponent(mobileWallet));
    const brace = filled.indexOf('{');
    if (brace === -1) {
      fixed.set(`${verb} ${filled}`, name);
      paths.add(filled);
    } else {
      open.push({ verb, prefix: filled.slice(0, brace), operation: name });
    }
  }

  return (verb, path) => {
    const operation = fixed.get(`${verb} ${path}`);
    if (operation !== undefined) return { operation, param: '' };
    if (paths.has(path)) return 'wrong-method';
    const match = open.find(({ prefix }) => path.startsWith(prefix));
    const segment = match === undefined ? '' : path.slice(match.prefix.length);
    if (match === undefined || segment === '' || segment.includes('/')) return 'unknown';
    if (match.verb !== verb) return 'wrong-method';
    try {
      return { operation: match.operation, param: decodeURIComponent(segment) };
    } catch {
      return 'bad-encoding';
    }
  };
}
