import { connect, createServer, type Socket } from 'node:net';
import { listenLocally } from './local-server.ts';

/** Functions that replace a reply of Redis by other bytes. Null cuts the connection in the middle of the reply. */
export const SPOILS: Readonly<Record<string, (reply: Buffer, previous: Buffer) => Buffer | null>> =
  {
    'a number': () => Buffer.from(':7\r\n'),
    'a word': () => Buffer.from('+WORD\r\n'),
    'an error': () => Buffer.from('-ERR spoilt\r\n'),
    null: () => Buffer.from('$-1\r\n'),
    'an empty list': () => Buffer.from('*0\r\n'),
    'a nested list': () => Buffer.from('*1\r\n*1\r\n:1\r\n'),
    'a list of words': () => Buffer.from('*3\r\n$4\r\nopen\r\n$1\r\nx\r\n$1\r\ny\r\n'),
    'the previous reply': (_reply, previous) => previous,
    'a large text': () => Buffer.from(`$1000000\r\n${'x'.repeat(1_000_000)}\r\n`),
    'half of the reply': () => null,
  };

/** A proxy of a real Redis that corrupts its replies to selected commands. */
export async function startSpoilingRedis(redisUrl: string) {
  const { hostname, port, username, password } = new URL(redisUrl);
  /** The texts of the scripts that were run. */
  const scripts = new Set<string>();
  let spoilt = 0;
  let spoil: ((reply: Buffer, previous: Buffer) => Buffer | null) | null = null;
  let isSelected = (_command: string, _script: string): boolean => true;

  const server = createServer((client) => {
    const redis = connect(Number(port), hostname);
    /** The commands whose replies have not come yet. */
    const pending: { readonly command: string; readonly script: string }[] = [];
    let previous: Buffer = Buffer.from('+OK\r\n');
    const end = () => {
      client.destroy();
      redis.destroy();
    };
    for (const socket of [client, redis]) socket.on('error', end).on('close', end);
    eachValue(client, (request) => {
      const words = bulksOf(request);
      const command = (words[0] ?? '').toLowerCase();
      const script = command === 'eval' ? (words[1] ?? '') : '';
      if (script !== '') scripts.add(script);
      pending.push({ command, script });
      redis.write(request);
    });
    eachValue(redis, (reply) => {
      const { command = '', script = '' } = pending.shift() ?? {};
      const isSetUp = /^(?:auth|hello|client|select)$/.test(command);
      const isSpoilt = !isSetUp && isSelected(command, script);
      const sent = spoil && isSpoilt ? spoil(reply, previous) : reply;
      if (sent !== reply) spoilt += 1;
      previous = reply;
      if (sent === null) client.write(reply.subarray(0, Math.ceil(reply.length / 2)), end);
      else client.write(sent);
    });
  });
  const local = await listenLocally(server);
  const { host } = new URL(local.url);
  return {
    url: `redis://${username}:${password}@${host}`,
    scripts,
    get spoilt() {
      return spoilt;
    },
    /** Corrupts the replies to selected commands from now on; null stops that. */
    spoil(how: typeof spoil, selected: typeof isSelected = () => true) {
      spoil = how;
      isSelected = selected;
      spoilt = 0;
    },
    [Symbol.asyncDispose]: local[Symbol.asyncDispose],
  };
}

/** Calls back with each complete RESP value of a socket. */
function eachValue(socket: Socket, take: (value: Buffer) => void): void {
  let waiting: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    waiting = Buffer.concat([waiting, chunk]);
    for (let end = endOf(waiting, 0); end !== null; end = endOf(waiting, 0)) {
      const value = waiting.subarray(0, end);
      waiting = waiting.subarray(end);
      take(value);
    }
  });
}

/** The index after the value that begins at `from`; null if the value is incomplete. */
function endOf(bytes: Buffer, from: number): number | null {
  const lineEnd = bytes.indexOf('\r\n', from);
  if (lineEnd === -1) return null;
  const kind = String.fromCharCode(bytes[from] ?? 0);
  const length = Number(bytes.toString('latin1', from + 1, lineEnd));
  const next = lineEnd + 2;
  if (kind === '$') {
    // A text of the length -1 is null, and has no second line.
    const textEnd = length < 0 ? next : next + length + 2;
    return textEnd <= bytes.length ? textEnd : null;
  }
  if (kind !== '*') return next;
  let end: number | null = next;
  for (let item = 0; item < length && end !== null; item += 1) end = endOf(bytes, end);
  return end;
}

/** The words of a command, which is a list of bulk strings. */
function bulksOf(request: Buffer): string[] {
  const words: string[] = [];
  let start = request.indexOf('\r\n') + 2;
  // Without a line end `indexOf` gives -1, and `start` is 1.
  while (start > 1 && start < request.length) {
    const lineEnd = request.indexOf('\r\n', start);
    const length = Number(request.toString('latin1', start + 1, lineEnd));
    const word = lineEnd + 2;
    words.push(request.toString('utf8', word, word + length));
    start = word + length + 2;
  }
  return words;
}
