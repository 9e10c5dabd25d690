/**
 * The gateway behind the contestants: replays the sandbox gateway's answers, without its work, so that the
 * core it shares with the load generator is never the slower one.
 */
import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { loginIn, personalAnswer } from './personal-answer.ts';
import { type Recording, record } from './recording.ts';

/** `still`: positions are the same bytes each time; `moving`: other prices in each answer. */
export type Market = 'still' | 'moving';

export type GatewayFault = 'status' | 'reset';

export type GatewayOrder =
  /** From now on every call fails. */
  | { readonly fault: GatewayFault }
  | { readonly market: Market }
  /** True: every answer closes its connection. */
  | { readonly closes: boolean }
  /** True: every fetch of the catalog finds something changed. */
  | { readonly renewsCatalog: boolean }
  | { readonly tells: 'tokens' | 'strangers' | 'counts' };

export interface GatewayCounts {
  readonly calls: number;
  /** The fetches among those that got the whole catalog. */
  readonly catalogs: number;
  /** Connections over TLS, and those among them that resumed the session of a former one. */
  readonly handshakes: number;
  readonly resumed: number;
}

const HEAD_END = '\r\n\r\n';
const NOT_FOUND = Buffer.from('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');

const { INSTRUMENTS, TOKENS, PORT, PERSONAL, TLS_PORT, TLS_KEY, TLS_CERTIFICATE } = process.env;
const recording = await record(Number(INSTRUMENTS), Number(TOKENS));
const UNAVAILABLE = Buffer.from('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n');

let fault: GatewayFault | null = null;
let market: Market = 'still';
let renewsCatalog = false;
let closes = false;
let calls = 0;
let catalogs = 0;
let edition = 0;
let positions = 0;
let handshakes = 0;
let resumed = 0;

if (TLS_PORT && TLS_KEY && TLS_CERTIFICATE) {
  const files = { key: readFileSync(TLS_KEY), cert: readFileSync(TLS_CERTIFICATE) };
  createTlsServer({ ...files, noDelay: true }, (socket) => {
    handshakes += 1;
    if (socket.isSessionReused()) resumed += 1;
    serve(socket);
  }).listen(Number(TLS_PORT), '127.0.0.1');
}
createServer({ noDelay: true }, serve).listen(Number(PORT), '127.0.0.1');

process.on('message', (order: GatewayOrder | { readonly ask: string }) => {
  // The probe's.
  if ('ask' in order) return;
  if ('fault' in order) fault = order.fault;
  if ('market' in order) market = order.market;
  if ('renewsCatalog' in order) renewsCatalog = order.renewsCatalog;
  if ('closes' in order) closes = order.closes;
  const counts: GatewayCounts = { calls, catalogs, handshakes, resumed };
  const { tokens, strangers } = recording;
  const tells = 'tells' in order ? order.tells : 'counts';
  process.send?.({ answer: { tokens, strangers, counts }[tells] });
});

function serve(socket: Socket): void {
  let pending = '';
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    pending += chunk.toString('latin1');
    for (;;) {
      const end = pending.indexOf(HEAD_END);
      if (end === -1) return;
      if (fault === 'reset') {
        calls += 1;
        socket.resetAndDestroy();
        return;
      }
      const answer = answerTo(pending.slice(0, end), recording);
      if (closes) {
        socket.end(closing(answer));
        return;
      }
      socket.write(answer);
      pending = pending.slice(end + HEAD_END.length);
    }
  });
}

/** The answer with a header that announces the end of its connection. */
function closing(answer: Buffer): Buffer {
  const status = answer.indexOf('\r\n') + 2;
  return Buffer.concat([
    answer.subarray(0, status),
    Buffer.from('connection: close\r\n'),
    answer.subarray(status),
  ]);
}

/** Only reads are sent here, so a head is all there is. */
function answerTo(head: string, said: Recording): Buffer {
  calls += 1;
  if (fault === 'status') return UNAVAILABLE;
  const path = head.slice(head.indexOf(' ') + 1, head.indexOf(' HTTP/'));
  if (path === '/trading/positions') {
    if (market === 'moving') positions += 1;
    return ownOf(said.positions[positions % said.positions.length] ?? NOT_FOUND, head);
  }
  if (path === '/payments/client/withdrawal-methods') return said.withdrawalMethods;
  if (path === '/payments/client/customer-id') return said.customerId;
  if (path.startsWith('/trading/session/')) return ownOf(said.session, head);
  if (!path.startsWith('/trading/tickers/')) return NOT_FOUND;
  catalogs += 1;
  if (renewsCatalog) edition += 1;
  const catalog = said.catalogs[edition % said.catalogs.length];
  return (/accept-encoding:[^\r]*gzip/i.test(head) ? catalog?.zipped : catalog?.plain) ?? NOT_FOUND;
}

/** Where each login has holdings of its own, as if the gateway had as many accounts as it is asked for. */
function ownOf(answer: Buffer, head: string): Buffer {
  return PERSONAL === 'yes' ? personalAnswer(answer, loginIn(head)) : answer;
}
