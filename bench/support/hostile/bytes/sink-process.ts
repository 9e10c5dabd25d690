/** Takes whatever comes and drops it: what a sender costs the machine without a service behind it. */
import { type AddressInfo, createServer } from 'node:net';

const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.resume();
});
server.listen(0, '127.0.0.1');
process.on('message', () => {
  process.send?.({ answer: (server.address() as AddressInfo).port });
});
process.on('disconnect', () => process.exit());
