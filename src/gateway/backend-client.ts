import type { Caller } from './caller.ts';
import { createWire, type WireParts } from './create-wire.ts';
import { type Exchange, exchanged } from './exchange.ts';
import type { GatewayOperation } from './operations.ts';
import { type RequestDetails, requestTemplates } from './request-templates.ts';

/** Another service beside the gateway, as an extension of the schema declares it. */
export interface BackendSettings {
  readonly name: string;
  readonly url: string;
  readonly timeoutMs: number;
  readonly connections: number;
  readonly maxBytes: number;
  /** The most polls of live lists in a second. */
  readonly pollsPerSecond: number;
  readonly retries: boolean;
  /** In lower case. None of the gateway's is sent there. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether it gets the user's token. */
  readonly forwardToken: boolean;
  /** A header by which it is told of the viewer, so that nothing of it is everybody's; null where there is none. */
  readonly viewerHeader: string | null;
  /** The operations by their names, which begin with the backend's own and a dot. */
  readonly reads: Readonly<Record<string, string>>;
  readonly writes: Readonly<Record<string, BackendWrite>>;
}

export interface BackendWrite {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Names of the live lists that it may have changed. */
  readonly refreshes: readonly string[];
}

export type BackendClient = ReturnType<typeof createBackendClient>;

/** Calls one backend over connections, breakers, retries and spans of its own. Its answers prove nothing of any token. */
export function createBackendClient(settings: BackendSettings, parts: WireParts) {
  const operations = operationsOf(settings);
  const { url, connections, retries, timeoutMs, maxBytes } = settings;
  const requests = {
    gatewayHeaders: settings.headers,
    gatewayForwardClient: false,
    gatewayForwardHeaders: [],
    gatewayTimeoutMs: timeoutMs,
    orderTimeoutMs: timeoutMs,
    catalogTimeoutMs: timeoutMs,
    gatewayMaxBytes: maxBytes,
    catalogMaxBytes: maxBytes,
  };
  const templates = requestTemplates(operations, requests);
  const widths = { [settings.name]: connections };
  const wire = createWire({ ...parts, ...requests, url, operations, widths, retries });
  return {
    /** `name` is an operation of its own; a path value that could leave its segment is refused by an UnsafePathError. */
    call(name: string, caller: Caller, details: RequestDetails): Promise<Exchange> {
      const call = templates[name]?.(caller, details);
      if (call === undefined) throw new Error(`no operation ${name}`);
      return exchanged(wire.send, call);
    },
    close: wire.close,
  };
}

function operationsOf({ name, forwardToken, reads, writes }: BackendSettings) {
  const common = {
    backend: name,
    area: name,
    bounds: 'usual',
    proves: 'nothing',
    mayHaveAged: true,
    errors: 'plain',
  };
  const row = (of: Pick<GatewayOperation, 'verb' | 'path' | 'effect'>) =>
    ({
      ...common,
      ...of,
      isIdempotent: of.effect === 'read',
      isAnonymous: !forwardToken,
    }) as GatewayOperation;
  const rows = [
    ...Object.entries(reads).map(
      ([each, path]) => [each, row({ verb: 'GET', path, effect: 'read' })] as const,
    ),
    ...Object.entries(writes).map(
      ([each, { method, path }]) => [each, row({ verb: method, path, effect: 'write' })] as const,
    ),
  ];
  return Object.fromEntries(rows);
}
