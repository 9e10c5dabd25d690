import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawConnection extends Disposable {
  readonly socket: Socket;
  /** Everything received so far. */
  readonly received: string;
  readonly isClosed: boolean;
}

/** A TCP connection that sends any bytes, HTTP or not. */
export async function openRaw(url: string, localAddress?: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, localAddress });
  let received = '';
  let isClosed = false;
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => {
    received += text;
  });
  // Many tests expect the connection to be reset.
  socket.on('error', () => {});
  socket.once('close', () => {
    isClosed = true;
  });
  await once(socket, 'connect');
  return {
    socket,
    get received() {
      return received;
    },
    get isClosed() {
      return isClosed;
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** Returns the status codes of all answers to these bytes, once the server has closed the connection. */
export async function statusesOf(url: string, bytes: string): Promise<string[]> {
  using raw = await openRaw(url);
  // A last request makes the server close the connection. Its status is the last in the list.
  raw.socket.write(`${bytes}GET /health/live HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
  if (!raw.isClosed) await once(raw.socket, 'close');
  return [...raw.received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status = '']) => status);
}
