import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import {
  acceptedBytes,
  isPausedByNode,
  type MessageUnpacker,
  replaceUnpacker,
} from '../../src/server/private-fields.ts';

test('a version without the fields loses no more than what each is for', () => {
  const bare = {} as Socket & WebSocket;
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
  replaceUnpacker({ _extensions: {} } as unknown as WebSocket, replacement);
  expect(replaced).toEqual([]);
});
