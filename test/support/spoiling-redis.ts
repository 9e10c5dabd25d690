import { connect, createServer, type Socket } from 'node:net';
import { listenLocally } from './local-server.ts';

/** Functions that replace a reply of Redis by other bytes. Null cuts the connection in the middle of the reply. */
export const SPOILS: Readonly<Record<string, (reply: Buffer, before: Buffer) => Buffer | null>> = {
  'a number': () => Buffer.from(':7\r\n'),
  'a word': () => Buffer.from('+WORD\r\n'),
  'an error': () => Buffer.from('-ERR spoilt\r\n'),
  null: () => Buffer.from('$-1\r\n'),
  'an empty list': () => Buffer.from('*0\r\n'),
  'a nested list': () => Buffer.from('*1\r\n*1\r\n:1\r\n'),
  'a list of words': () => Buffer.from('*3\r\n$4\r\nopen\r\n$1\r\nx\r\n$1\r\ny\r\n'),
  'the reply before it': (_reply, before) => before,
  'a large text': () => Buffer.from(`$1000000\r\n${'x'.repeat(1_000_000)}\r\n`),
  'half of it': () => null,
};

/** A proxy of a real Redis that corrupts its replies to selected commands. */
export async function startSpoilingRedis(redisUrl: string) {
  const { hostname, port, username, password } = new URL(redisUrl);
  /** The texts of the scripts that were run. */
  const scripts = new Set<string>();
  let spoilt = 0;
  let spoil: ((reply: Buffer, before: Buffer) => Buffer | null) | null = null;
  let isSelected = (_command: string, _script: string): boolean => true;

  const server = createServer((client) => {
    const redis = connect(Number(port), hostname);
    const asked: { readonly command: string; readonly script: string }[] = [];
    let before: Buffer = Buffer.from('+OK\r\n');
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
      asked.push({ command, script });
      redis.write(request);
    });
    eachValue(redis, (reply) => {
      const { command = '', script = '' } = asked.shift() ?? {};
      const isSetUp = /^(?:auth|hello|client|select)$/.test(command);
      const made = spoil && !isSetUp && isSelected(command, script) ? spoil(reply, before) : reply;
      if (made !== reply) spoilt += 1;
      before = reply;
      if (made === null) {
        client.write(reply.subarray(0, Math.ceil(reply.length / 2)), end);
        return;
      }
      client.write(made);
    });
  });
  const local = await listenLocally(server);
  const at = new URL(local.url);
  return {
    url: `redis://${username}:${password}@${at.hostname}:${at.port}`,
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

/** The index after the value that begins at an index; null if the value is incomplete. */
function endOf(bytes: Buffer, from: number): number | null {
  const line = bytes.indexOf('\r\n', from);
  if (line === -1) return null;
  const kind = String.fromCharCode(bytes[from] ?? 0);
  const length = Number(bytes.toString('latin1', from + 1, line));
  if (kind === '$') return ifComplete(bytes, length < 0 ? line + 2 : line + 2 + length + 2);
  let end: number | null = line + 2;
  for (let at = 0; kind === '*' && at < length && end !== null; at += 1) end = endOf(bytes, end);
  return end;
}

function ifComplete(bytes: Buffer, end: number): number | null {
  return end <= bytes.length ? end : null;
}

/** The words of a command, which is a list of bulk strings. */
function bulksOf(request: Buffer): string[] {
  const words: string[] = [];
  let at = request.indexOf('\r\n') + 2;
  while (at > 1 && at < request.length) {
    const line = request.indexOf('\r\n', at);
    const length = Number(request.toString('latin1', at + 1, line));
    words.push(request.toString('utf8', line + 2, line + 2 + length));
    at = line + 2 + length + 2;
  }
  return words;
}
