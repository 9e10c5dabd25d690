/**
 * The gateway of all subjects: it replays the sandbox gateway's answers without its work, so that the core that it shares
 * with the load generator is never the slower one.
 */
import { createServer, type Socket } from 'node:net';
import { pathOf } from '../../test/support/ask-gateway.ts';
import { record } from './recording.ts';

/** `still`: positions are the same bytes each time; `moving`: each answer has other prices. */
export type Market = 'still' | 'moving';

const HEAD_END = '\r\n\r\n';
const NOT_FOUND = Buffer.from('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');

const { INSTRUMENTS, TOKENS, PORT } = process.env;
const recorded = await record(Number(INSTRUMENTS), Number(TOKENS));
const POSITIONS = pathOf('getOpenPositions');
let market: Market = 'still';
let positions = 0;

createServer({ noDelay: true }, serve).listen(Number(PORT), '127.0.0.1');

process.on('message', (message: { readonly market?: Market }) => {
  // Other messages are for the probe.
  if (message.market === undefined) return;
  market = message.market;
  process.send?.({ answer: recorded.tokens });
});

function serve(socket: Socket): void {
  let pending = '';
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    pending += chunk.toString('latin1');
    const heads = pending.split(HEAD_END);
    // The last part is the beginning of a request that has not arrived whole.
    pending = heads.pop() ?? '';
    for (const head of heads) socket.write(answerTo(head));
  });
}

/** Only reads are sent here, so a request has no body. */
function answerTo(head: string): Buffer {
  const path = head.slice(head.indexOf(' ') + 1, head.indexOf(' HTTP/'));
  if (path === POSITIONS) {
    if (market === 'moving') positions += 1;
    return recorded.positions[positions % recorded.positions.length] ?? NOT_FOUND;
  }
  if (path !== recorded.catalogPath) return recorded.others.get(path) ?? NOT_FOUND;
  const { plain, zipped } = recorded.catalog;
  return /accept-encoding:[^\r]*gzip/i.test(head) ? zipped : plain;
}
