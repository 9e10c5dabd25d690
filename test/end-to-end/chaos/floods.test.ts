import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { eventually } from '../../support/eventually.ts';
import { startFacadeProcess } from '../../support/facade-process.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { startedOnce } from '../../support/started.ts';
import { frame, OPCODES, PACKED, packed, UPGRADE } from '../../support/websocket-frames.ts';
import { postOf } from '../limits/slow-reader.ts';
import { seriesValue } from '../operations/scraped.ts';
import { openRaw, type RawConnection } from './raw-connection.ts';

const sandbox = startedOnce(() => startSandbox({ seed: 'floods', tickMs: 0 }));
/** The whole program in a separate process, so that only its memory is measured. */
const facade = startedOnce(() =>
  startFacadeProcess(
    { GATEWAY_URL: sandbox.url, ORDER_STORE: 'memory' },
    [],
    fileURLToPath(new URL('weighed-main.ts', import.meta.url)),
  ),
);

/** The heap's size after a garbage collection. */
async function weigh(): Promise<number> {
  const before = facade.logged.length;
  const find = () => facade.logged.slice(before).find((line) => line.includes('"heldBytes"'));
  facade.signal('SIGUSR2');
  await eventually(() => find() !== undefined);
  return JSON.parse(find() as string).heldBytes;
}

const GET = 'GET /schema.graphql HTTP/1.1\r\nhost: facade\r\n\r\n';
const PING = frame(OPCODES.text, Buffer.from('{"type":"ping"}'));
const BOMB = frame(OPCODES.text, packed('x'.repeat(250_000)), { rsv: PACKED });
const BEGUN = frame(OPCODES.text, Buffer.alloc(100_000), { announced: 200_000 });
const HALF = 'POST /graphql HTTP/1.1\r\nhost: facade\r\ncontent-length: 9\r\n\r\n{';

type Flood = (raw: RawConnection) => void;

const onSocket =
  (...frames: readonly Buffer[]): Flood =>
  ({ socket }) =>
    void socket.write(Buffer.concat([Buffer.from(UPGRADE), ...frames]));

const FLOODS: Readonly<Record<string, Flood>> = {
  requests: ({ socket }) => void socket.write(postOf('{ __typename }')),
  'pipelined requests': ({ socket }) => void socket.write(GET.repeat(500)),
  'answers that are not read': ({ socket }) => void socket.pause().write(GET.repeat(20)),
  'requests that never end': ({ socket }) => void socket.write(HALF),
  sockets: onSocket(),
  messages: onSocket(...Array<Buffer>(500).fill(PING)),
  'messages that unpack to many times their size': onSocket(BOMB, BOMB, BOMB),
  'messages that never end': onSocket(BEGUN),
};

test.each(Object.entries(FLOODS))(
  'a flood of %s does not end the process, block other clients or leak memory',
  async (_what, flood) => {
    const token = sandbox.token({ email: 'demo@example.com' });
    const ask = () => facade.query('{ session { login } }', { token });
    const round = async () => {
      const all = await inParallel(100, 50, () => openRaw(facade.url, '127.0.2.1'));
      for (const raw of all) flood(raw);
      for (let at = 0; at < 5; at += 1) expect((await ask()).errors).toEqual([]);
      for (const raw of all) raw.socket.destroy();
      // Messages that were sent before are decompressed before a socket closes.
      await eventually(async () => expect(await seriesValue(facade, 'sockets')).toBe(0));
    };
    // The first round fills caches.
    await round();
    const before = await weigh();
    await round();
    await eventually(async () => expect(await weigh()).toBeLessThan(1.1 * before));
  },
);
