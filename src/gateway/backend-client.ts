import { createWire, type WireParts } from './create-wire.ts';
import type { GatewayOperation } from './operations.ts';
import { createCalls } from './request-templates.ts';

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
  readonly operations: Readonly<Record<string, BackendOperation>>;
}

export interface BackendOperation extends GatewayOperation {
  /** Names of the live lists that it may have changed. */
  readonly refreshes: readonly string[];
}

export type BackendClient = ReturnType<typeof createBackendClient>;

/** Calls one backend over connections, breakers, retries and spans of its own. Its answers prove nothing of any token. */
export function createBackendClient(settings: BackendSettings, parts: WireParts) {
  const { url, connections, retries, timeoutMs, maxBytes, operations } = settings;
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
  const widths = { [settings.name]: connections };
  const wire = createWire({ ...parts, ...requests, url, operations, widths, retries });
  return {
    /** `name` is an operation of its own; a path value that could leave its segment is refused by an UnsafePathError. */
    call: createCalls(operations, requests, wire.send),
    close: wire.close,
  };
}
