import type { Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import type * as ws from 'ws';
import {
  lostOfWs,
  type MessageUnpacker,
  replaceUnpacker,
  stopAtBrokenFrame,
} from '../../engine/transports/websocket/private-ws.ts';
import { acceptedBytes, isPausedByNode, lostOfNode } from '../../lib/private-node.ts';
import { startSandbox } from '../../sandbox/start.ts';
import { eventually } from '../support/eventually.ts';
import { startFacadeProcess } from '../support/facade-process.ts';
import { SOURCES } from '../support/program.ts';

test('these versions of Node and ws have every private field that a protection rests on, and others lose no more than that', () => {
  expect([...lostOfNode(), ...lostOfWs()]).toEqual([]);
  const bare = {} as Socket & ws.WebSocket;
  expect(acceptedBytes(bare)).toBe(0);
  expect(acceptedBytes({ _handle: { bytesWritten: 5 } } as unknown as Socket)).toBe(0);
  expect(acceptedBytes({ _handle: null } as unknown as Socket)).toBe(0);
  expect(isPausedByNode(bare)).toBe(false);
  const replacement = vi.fn((own: MessageUnpacker) => own);
  replaceUnpacker(bare, replacement);
  replaceUnpacker({ _extensions: {} } as unknown as ws.WebSocket, replacement);
  expect(replacement).not.toHaveBeenCalled();
  expect(() => stopAtBrokenFrame(bare)).not.toThrow();
});

/** Take the fields away before the program begins. */
const WITHOUT_FIELDS = `data:text/javascript,import { Duplex } from 'node:stream';
  import { createRequire } from 'node:module';
  const { Receiver } = createRequire(process.cwd() + '/')('ws');
  const absent = { get() {}, set() {} };
  Object.defineProperty(Duplex.prototype, '_paused', absent);
  Object.defineProperty(Receiver.prototype, '_errored', absent);`;

test('a line at the start names each field that is gone, with what is off without it', async () => {
  await using gateway = await startSandbox({ tickMs: 0, instruments: 10 });
  await using facade = await startFacadeProcess(
    { GATEWAY_URL: gateway.url, ORDER_STORE: 'memory' },
    ['--import', WITHOUT_FIELDS.replaceAll('\n', '')],
    // The bundle has a copy of ws of its own.
    SOURCES,
  );
  const fields = ['_paused of a socket', '_receiver of ws'];
  await eventually(() => {
    const lines = facade.logged.map((line) => JSON.parse(line)).filter(({ off }) => off);
    expect(lines.map(({ level, field }) => [level, field])).toEqual(
      fields.map((field) => ['warn', field]),
    );
  });
});
