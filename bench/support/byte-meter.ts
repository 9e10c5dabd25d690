import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';

/** Stands between a phone and the service, and counts the bytes that come to the phone. */
export async function startByteMeter(target: string) {
  const { hostname, port } = new URL(target);
  let bytes = 0;
  const server = createServer((phone) => {
    const service = connect(Number(port), hostname);
    service.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    // The end of one ends the other.
    pipeline(phone, service, () => {});
    pipeline(service, phone, () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bytes: () => bytes,
    reset: () => {
      bytes = 0;
    },
    [Symbol.dispose]: () => void server.close(),
  };
}
