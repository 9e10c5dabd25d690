import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { eventually } from '../../support/eventually.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { startedOnce } from '../../support/started.ts';
import { frame, OPCODES, PACKED, packed, UPGRADE } from '../../support/websocket-frames.ts';
import { postOf } from '../limits/slow-reader.ts';
import { seriesValue } from '../operations/scraped.ts';
import { measure, startMeasured } from './measured-facade.ts';
import { openRaw, type RawConnection } from './raw-connection.ts';

const sandbox = startedOnce(() => startSandbox({ seed: 'floods', tickMs: 0 }));
const facade = startedOnce(() => startMeasured({ GATEWAY_URL: sandbox.url }));
const heapBytes = async () => (await measure(facade)).heldBytes;

const GET = 'GET /schema.graphql HTTP/1.1\r\nhost: facade\r\n\r\n';
const PING = frame(OPCODES.text, Buffer.from('{"type":"ping"}'));
const BOMB = frame(OPCODES.text, packed('x'.repeat(250_000)), { rsv: PACKED });
const BEGIN_OF_MESSAGE = frame(OPCODES.text, Buffer.alloc(100_000), { announced: 200_000 });
const BEGIN_OF_POST = 'POST /graphql HTTP/1.1\r\nhost: facade\r\ncontent-length: 9\r\n\r\n{';

/** Writes the bytes of a flood to one of its connections. */
type Flood = (raw: RawConnection) => void;

const onSocket =
  (...frames: readonly Buffer[]): Flood =>
  ({ socket }) =>
    void socket.write(Buffer.concat([Buffer.from(UPGRADE), ...frames]));

const FLOODS: Readonly<Record<string, Flood>> = {
  requests: ({ socket }) => void socket.write(postOf('{ __typename }')),
  'pipelined requests': ({ socket }) => void socket.write(GET.repeat(500)),
  'answers that are not read': ({ socket }) => void socket.pause().write(GET.repeat(20)),
  'requests that never end': ({ socket }) => void socket.write(BEGIN_OF_POST),
  sockets: onSocket(),
  messages: onSocket(...Array<Buffer>(500).fill(PING)),
  'messages that unpack to many times their size': onSocket(BOMB, BOMB, BOMB),
  'messages that never end': onSocket(BEGIN_OF_MESSAGE),
};

test.each(Object.entries(FLOODS))(
  'a flood of %s neither ends the process nor blocks other clients nor leaks memory',
  async (_what, flood) => {
    const token = sandbox.token({ email: 'demo@example.com' });
    const ask = () => facade.query('{ session { login } }', { token });
    const round = async () => {
      // The flood has another address than the client that asks, because some limits are by address.
      const all = await inParallel(100, 50, () => openRaw(facade.url, '127.0.2.1'));
      for (const raw of all) flood(raw);
      for (let time = 0; time < 5; time += 1) expect((await ask()).errors).toEqual([]);
      for (const raw of all) raw.socket.destroy();
      // A socket closes only after its messages are decompressed.
      await eventually(async () => expect(await seriesValue(facade, 'sockets')).toBe(0));
    };
    // The first round fills caches.
    await round();
    const before = await heapBytes();
    await round();
    await eventually(async () => expect(await heapBytes()).toBeLessThan(1.1 * before));
  },
);
