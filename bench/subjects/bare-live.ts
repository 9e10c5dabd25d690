/**
 * The least work for live positions: one poll per account and interval with undici, and one message to each of the
 * account's sockets when the answer differs from the last. No lists are compared, no token is proved, and every client
 * selects the same fields.
 */
import { createServer } from 'node:http';
import { setInterval, setTimeout } from 'node:timers';
import { Pool } from 'undici';
import { type WebSocket, WebSocketServer } from 'ws';
import { BEFORE_TOKEN, TOKEN_HEADER } from '../../src/gateway/operations/conventions.ts';

// `MESSAGE` is a recorded event of the service. Every message to a socket has this text, whatever the positions are.
const { GATEWAY_URL = '', LIST_PATH = '', PORT, POSITIONS_POLL_MS, MESSAGE = '' } = process.env;
const pollMs = Number(POSITIONS_POLL_MS);
const gateway = new Pool(GATEWAY_URL, { connections: 128 });

interface Account {
  readonly sockets: Set<WebSocket>;
  last: Buffer;
  stop: () => void;
}

const accounts = new Map<string, Account>();
const server = createServer();
const sockets = new WebSocketServer({ server, perMessageDeflate: false });

sockets.on('connection', (socket) => {
  let token = '';
  socket.on('message', (data) => {
    const message = JSON.parse(String(data));
    if (message.type === 'connection_init') {
      token = message.payload.authorization.slice('Bearer '.length);
      socket.send('{"type":"connection_ack"}');
    } else if (message.type === 'subscribe') {
      watch(token, socket);
    }
  });
  socket.on('close', () => leave(socket));
});
server.listen(Number(PORT), '127.0.0.1');

function watch(token: string, socket: WebSocket): void {
  const { login } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  const known = accounts.get(login);
  if (known) {
    known.sockets.add(socket);
    // Stands for the list that a further socket gets at once.
    socket.send(MESSAGE);
    return;
  }
  const account: Account = { sockets: new Set([socket]), last: Buffer.alloc(0), stop: () => {} };
  accounts.set(login, account);
  const poll = () => void pollOnce(token, account).catch(() => {});
  poll();
  // Accounts poll at random times of the interval, so that the polls are spread evenly.
  const phase = setTimeout(() => {
    const polling = setInterval(poll, pollMs);
    account.stop = () => clearInterval(polling);
  }, Math.random() * pollMs);
  account.stop = () => clearTimeout(phase);
}

/** Stops the poll of an account whose last socket has closed. */
function leave(socket: WebSocket): void {
  for (const [login, account] of accounts) {
    if (!account.sockets.delete(socket) || account.sockets.size > 0) continue;
    account.stop();
    accounts.delete(login);
  }
}

async function pollOnce(token: string, account: Account): Promise<void> {
  const { body } = await gateway.request({
    path: LIST_PATH,
    method: 'GET',
    headers: { [TOKEN_HEADER]: BEFORE_TOKEN + token },
  });
  const bytes = Buffer.from(await body.arrayBuffer());
  if (bytes.equals(account.last)) return;
  account.last = bytes;
  for (const socket of account.sockets) socket.send(MESSAGE);
}
