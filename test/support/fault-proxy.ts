import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { OPERATION_NAMES, OPERATIONS, type OperationName } from '../../src/gateway/operations.ts';

/** The faults of a network. Each is the same each time: nothing is random. */
export type NetworkFault =
  /** The request arrives late. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** The answer breaks off in the middle of its body. */
  | { readonly kind: 'cut' }
  /** The answer comes a byte at a time. */
  | { readonly kind: 'drip'; readonly everyMs: number }
  /** The connection is reset when the request has come, which goes no further. */
  | { readonly kind: 'reset-before' }
  /** The request was carried out; the connection is reset in place of the answer. */
  | { readonly kind: 'reset-after' }
  /** The request is taken and nothing ever comes. */
  | { readonly kind: 'half-open' };

export interface FaultProxy extends AsyncDisposable {
  readonly url: string;
  /** For one operation, or with `*` for all; the latest counts. */
  fail(operation: OperationName | '*', fault: NetworkFault): void;
  /** The listener is closed: connections are refused, and open ones are reset. */
  refuse(): Promise<void>;
  /** No fault is left. */
  heal(): Promise<void>;
  /** The number of requests of an operation received here, whatever their outcome. */
  arrived(operation?: OperationName): number;
  readonly openConnections: number;
}

/** Stands between the facade and its gateway as a network does: it knows bytes, not meanings. */
export async function startFaultProxy(gatewayUrl: string): Promise<FaultProxy> {
  const { hostname, port: gatewayPort } = new URL(gatewayUrl);
  const faults = new Map<OperationName | '*', NetworkFault>();
  const arrivals = new Map<OperationName, number>();
  const relays = new Set<Relay>();
  const server = createServer((client) => {
    const upstream = () => connect(Number(gatewayPort), hostname);
    const relay = new Relay(client, upstream, (operation) => {
      arrivals.set(operation, (arrivals.get(operation) ?? 0) + 1);
      return faults.get(operation) ?? faults.get('*') ?? null;
    });
    relays.add(relay);
    client.once('close', () => relays.delete(relay));
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const refuse = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const relay of relays) relay.reset();
    await closed;
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    fail: (operation, fault) => void faults.set(operation, fault),
    refuse,
    async heal() {
      faults.clear();
      if (!server.listening) await listen(port);
    },
    arrived(operation) {
      if (operation !== undefined) return arrivals.get(operation) ?? 0;
      return [...arrivals.values()].reduce((sum, count) => sum + count, 0);
    },
    get openConnections() {
      return relays.size;
    },
    [Symbol.asyncDispose]: refuse,
  };
}

/** One connection of the facade's and the one that is made for it behind. */
class Relay {
  readonly #client: Socket;
  readonly #connect: () => Socket;
  readonly #faultOf: (operation: OperationName) => NetworkFault | null;
  #upstream: Socket | null = null;
  /** The fault of the request that was sent last: connections are not pipelined. */
  #fault: NetworkFault | null = null;
  #asked: Buffer = Buffer.alloc(0);
  #answered: Buffer = Buffer.alloc(0);
  #timer: NodeJS.Timeout | undefined;

  constructor(
    client: Socket,
    upstream: () => Socket,
    faultOf: (operation: OperationName) => NetworkFault | null,
  ) {
    this.#client = client;
    this.#connect = upstream;
    this.#faultOf = faultOf;
    client.setNoDelay(true);
    // The facade aborts a connection after many of the faults.
    client.on('error', () => {});
    client.on('data', (chunk: Buffer) => {
      this.#asked = Buffer.concat([this.#asked, chunk]);
      this.#read();
    });
    client.once('close', () => {
      clearTimeout(this.#timer);
      this.#upstream?.destroy();
    });
  }

  reset(): void {
    this.#client.resetAndDestroy();
  }

  #read(): void {
    const end = this.#asked.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.#asked.toString('latin1', 0, end);
    const length = end + 4 + lengthOfBody(head);
    if (this.#asked.length < length) return;
    const request = this.#asked.subarray(0, length);
    this.#asked = this.#asked.subarray(length);
    this.#fault = this.#faultOf(operationOf(head));
    this.#answered = Buffer.alloc(0);
    const fault = this.#fault;
    if (fault?.kind === 'reset-before') this.reset();
    else if (fault?.kind === 'latency') {
      this.#timer = setTimeout(() => this.#forward(request), fault.ms);
    } else if (fault?.kind !== 'half-open') this.#forward(request);
  }

  #forward(request: Buffer): void {
    this.#upstream ??= this.#open();
    this.#upstream.write(request);
  }

  #open(): Socket {
    const upstream = this.#connect();
    upstream.setNoDelay(true);
    upstream.on('error', () => {});
    upstream.on('data', (chunk: Buffer) => this.#answer(chunk));
    upstream.once('close', () => this.#client.end());
    return upstream;
  }

  #answer(chunk: Buffer): void {
    const fault = this.#fault;
    if (fault?.kind === 'reset-after') this.reset();
    else if (fault?.kind === 'cut') this.#cut(chunk);
    else if (fault?.kind === 'drip') {
      const isDripping = this.#answered.length > 0;
      this.#answered = Buffer.concat([this.#answered, chunk]);
      if (!isDripping) this.#drip(fault.everyMs);
    } else this.#client.write(chunk);
  }

  #cut(chunk: Buffer): void {
    this.#answered = Buffer.concat([this.#answered, chunk]);
    const end = this.#answered.indexOf('\r\n\r\n');
    if (end < 0) return;
    const half = Math.floor(lengthOfBody(this.#answered.toString('latin1', 0, end)) / 2);
    if (this.#answered.length < end + 4 + half) return;
    this.#client.end(this.#answered.subarray(0, end + 4 + half));
  }

  #drip(everyMs: number): void {
    this.#client.write(this.#answered.subarray(0, 1));
    this.#answered = this.#answered.subarray(1);
    if (this.#answered.length === 0) return;
    this.#timer = setTimeout(() => this.#drip(everyMs), everyMs);
  }
}

function lengthOfBody(head: string): number {
  return Number(/^content-length:\s*(\d+)/im.exec(head)?.[1] ?? 0);
}

function operationOf(head: string): OperationName {
  const [verb, path = ''] = head.split(' ', 2);
  const found = OPERATION_NAMES.find((name) => {
    const operation = OPERATIONS[name];
    return operation.verb === verb && isOf(path, operation.path);
  });
  if (found === undefined) throw new Error(`no operation has ${verb} ${path}`);
  return found;
}

function isOf(path: string, template: string): boolean {
  const segments = template.split('/');
  const given = path.split('/');
  // Op 8's last segment is like op 7's, but for its end.
  return (
    given.length === segments.length &&
    segments.every((segment, at) =>
      segment.includes('{')
        ? given[at]?.startsWith(segment.slice(0, segment.indexOf('{')))
        : segment === given[at],
    )
  );
}
