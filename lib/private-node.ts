import { createServer, type Server as HttpServer } from 'node:http';
import { connect, Server, type Socket } from 'node:net';
import { Duplex } from 'node:stream';

// All that is used of Node beside its public API, which offers none of it; engine/README.md has what rests on each.

/** A field that this version lacks, with what is off without it. */
export interface LostField {
  readonly field: string;
  readonly off: string;
}

interface PrivateSocket {
  readonly _handle?: { readonly bytesWritten?: number; readonly writeQueueSize?: number } | null;
  readonly _paused?: boolean;
}

const privateOf = (socket: Duplex) => socket as unknown as PrivateSocket;

/** The bytes that the kernel has accepted. Without Node's counters 0: a large write is no progress until its last byte. */
export function acceptedBytes(socket: Socket): number {
  const { bytesWritten, writeQueueSize } = privateOf(socket)._handle ?? {};
  if (bytesWritten === undefined || writeQueueSize === undefined) return 0;
  return bytesWritten - writeQueueSize;
}

/** Whether the HTTP server waits for its answers to be read; without the field it is never taken to wait. */
export function isPausedByNode(socket: Socket): boolean {
  return privateOf(socket)._paused === true;
}

/** Hands what is read from a socket to `take` in place of its stream, to which `push` passes it on. */
export function takeReads(
  socket: Socket,
  take: (bytes: Buffer | null, push: (bytes: Buffer | null) => boolean) => boolean,
): void {
  const { push } = socket;
  const passOn = (bytes: Buffer | null) => Reflect.apply(push, socket, [bytes]);
  socket.push = (bytes: Buffer | null) => take(bytes, passOn);
}

/** Node's HTTP server reads the handle behind the stream's back until the stream has a listener. */
export function readThroughStream(socket: Socket): void {
  const ignore = () => {};
  socket.on('data', ignore);
  socket.off('data', ignore);
}

/** Reads on after a `push` that returned false. */
export function readOn(socket: Socket): void {
  socket._read(0);
}

/** Takes no new connections. `http.Server.close` would cut idle ones as well, on which a request may be on its way. */
export function stopListening(server: HttpServer): Promise<void> {
  return new Promise((resolve) => Server.prototype.close.call(server, () => resolve()));
}

/** The fields with a fallback that this version of Node lacks. */
export function lostOfNode(): readonly LostField[] {
  const lost: LostField[] = [];
  // The handle is there before anything is sent, and nothing is.
  const socket = connect({ host: '127.0.0.1', port: 1 });
  const { bytesWritten, writeQueueSize } = privateOf(socket)._handle ?? {};
  socket.destroy();
  if (bytesWritten === undefined || writeQueueSize === undefined) {
    const field = 'bytesWritten and writeQueueSize of a socket’s _handle';
    lost.push({
      field,
      off: 'a client that reads a large answer slowly is cut like one that reads nothing',
    });
  }
  const connection = new Duplex({ read() {}, write: (_bytes, _encoding, done) => done() });
  createServer().emit('connection', connection);
  if (typeof privateOf(connection)._paused !== 'boolean') {
    lost.push({ field: '_paused of a socket', off: 'pipelined requests may end the process' });
  }
  connection.destroy();
  return lost;
}
