import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inFull } from '../../support/in-full.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { FRAMES, UPGRADE } from '../../support/websocket-frames.ts';
import { initializedSocket } from '../live/raw-socket.ts';

const app = sharedApp({ RATE_LIMIT_PER_MINUTE: '1000000' });

type Writing = (socket: Socket, frames: readonly Buffer[]) => void;

const WRITINGS: Readonly<Record<string, Writing>> = {
  'in one write': inPieces((length) => length),
  'frame by frame': (socket, frames) => {
    for (const each of frames) socket.write(each);
  },
  'in three writes': inPieces((length) => Math.ceil(length / 3)),
  'byte by byte': inPieces(() => 1),
};

function inPieces(sizeOf: (length: number) => number): Writing {
  return (socket, frames) => {
    const all = Buffer.concat(frames);
    const size = sizeOf(all.length);
    for (let at = 0; at < all.length; at += size) socket.write(all.subarray(at, at + size));
  };
}

/** Sends frames on a new connection, and ends it. Resolves when the server has closed it. */
async function send(names: readonly string[], writing: Writing, isWithUpgrade: boolean) {
  const { port } = new URL(app.url);
  const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
  socket.on('error', () => {});
  const frames = names.map((name) => FRAMES[name] as Buffer);
  if (isWithUpgrade) writing(socket, [Buffer.from(UPGRADE), ...frames]);
  else {
    socket.write(UPGRADE);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toContain('101 Switching Protocols');
    writing(socket, frames);
  }
  socket.end();
  socket.resume();
  if (!socket.destroyed) await once(socket, 'close');
}

const NAMES = Object.keys(FRAMES);
const PAIRS = NAMES.flatMap((first) => NAMES.map((second) => [first, second]));
// Three frames once ended the process: a compressed one, whose decompression delays the others, a broken one, and any
// other.
const TRIPLES = PAIRS.flatMap((pair) =>
  inFull(['packedText', 'ping'], ['packedText']).map((first) => [first, ...pair]),
);

// An error that is thrown on the event loop ends a process, and Vitest assigns it to no test.
const thrown: unknown[] = [];
const note = (error: unknown) => void thrown.push(error);
beforeAll(() => void process.on('uncaughtException', note));
afterAll(() => void process.off('uncaughtException', note));

test.each(Object.entries(WRITINGS))(
  'broken frames do not end the process, %s',
  async (_name, writing) => {
    using other = await initializedSocket(app);
    for (const [at, names] of [...PAIRS, ...TRIPLES].entries()) {
      await send(names, writing, at % 2 === 0);
    }
    other.subscribe('1', '{ __typename }');
    expect((await other.until('1', 'next')).payload.data).toEqual({ __typename: 'Query' });
    expect(thrown).toEqual([]);
  },
);
