import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inFull } from '../../support/in-full.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { FRAMES, UPGRADE } from '../../support/websocket-frames.ts';
import { initializedSocket } from '../live/raw-socket.ts';

const app = sharedApp({ RATE_LIMIT_PER_MINUTE: '1000000' });

type WriteFrames = (socket: Socket, frames: readonly Buffer[]) => void;

const WAYS_TO_WRITE: Readonly<Record<string, WriteFrames>> = {
  'in one write': inPieces((length) => length),
  'frame by frame': (socket, frames) => {
    for (const frame of frames) socket.write(frame);
  },
  'in three writes': inPieces((length) => Math.ceil(length / 3)),
  'byte by byte': inPieces(() => 1),
};

function inPieces(sizeOf: (length: number) => number): WriteFrames {
  return (socket, frames) => {
    const bytes = Buffer.concat(frames);
    const size = sizeOf(bytes.length);
    for (let start = 0; start < bytes.length; start += size) {
      socket.write(bytes.subarray(start, start + size));
    }
  };
}

/** Sends frames on a new connection, after its upgrade or together with it. Resolves when the server has closed it. */
async function send(names: readonly string[], write: WriteFrames, isWithUpgrade: boolean) {
  const { port } = new URL(app.url);
  const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
  socket.on('error', () => {});
  const frames = names.map((name) => FRAMES[name] as Buffer);
  if (isWithUpgrade) write(socket, [Buffer.from(UPGRADE), ...frames]);
  else {
    socket.write(UPGRADE);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toContain('101 Switching Protocols');
    write(socket, frames);
  }
  socket.end();
  socket.resume();
  if (!socket.destroyed) await once(socket, 'close');
}

const NAMES = Object.keys(FRAMES);
const PAIRS = NAMES.flatMap((first) => NAMES.map((second) => [first, second]));
// Three frames once ended the process: a compressed frame, whose decompression delays the next frames, a broken frame, and
// any other frame.
const TRIPLES = PAIRS.flatMap((pair) =>
  inFull(['packedText', 'ping'], ['packedText']).map((first) => [first, ...pair]),
);

// An error that is thrown on the event loop ends a process, and Vitest assigns it to no test.
const uncaught: unknown[] = [];
const record = (error: unknown) => void uncaught.push(error);
beforeAll(() => void process.on('uncaughtException', record));
afterAll(() => void process.off('uncaughtException', record));

test.each(Object.entries(WAYS_TO_WRITE))(
  'broken frames do not end the process, %s',
  async (_name, write) => {
    using other = await initializedSocket(app);
    for (const [index, names] of [...PAIRS, ...TRIPLES].entries()) {
      const isWithUpgrade = index % 2 === 0;
      await send(names, write, isWithUpgrade);
    }
    other.subscribe('1', '{ __typename }');
    expect((await other.until('1', 'next')).payload.data).toEqual({ __typename: 'Query' });
    expect(uncaught).toEqual([]);
  },
);
