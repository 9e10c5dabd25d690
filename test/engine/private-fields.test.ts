import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import type * as ws from 'ws';
import {
  type MessageUnpacker,
  replaceUnpacker,
  stopAtBrokenFrame,
} from '../../engine/private-ws.ts';
import { acceptedBytes, isPausedByNode } from '../../lib/private-node.ts';

test('a version without the fields loses no more than what each is for', () => {
  const bare = {} as Socket & ws.WebSocket;
  expect(acceptedBytes(bare)).toBe(0);
  expect(acceptedBytes({ _handle: { bytesWritten: 5 } } as unknown as Socket)).toBe(0);
  expect(acceptedBytes({ _handle: null } as unknown as Socket)).toBe(0);
  expect(isPausedByNode(bare)).toBe(false);
  const replaced: MessageUnpacker[] = [];
  const replacement = (own: MessageUnpacker) => {
    replaced.push(own);
    return own;
  };
  replaceUnpacker(bare, replacement);
  replaceUnpacker({ _extensions: {} } as unknown as ws.WebSocket, replacement);
  expect(replaced).toEqual([]);
  expect(() => stopAtBrokenFrame(bare)).not.toThrow();
});
