import { constants, inflateRawSync } from 'node:zlib';
import type { PerMessageDeflateOptions, WebSocket } from 'ws';
import { replaceUnpacker } from './private-ws.ts';

/** Each message is packed by itself, in both directions, so that nothing is kept for a socket in between. */
export const PER_MESSAGE_DEFLATE: PerMessageDeflateOptions = {
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
};

// `server_max_window_bits` is not among the parameters: events are packed for all sockets alike.
const ACCEPTABLE =
  /(?:^|,)\s*(permessage-deflate(?:\s*;\s*(?:(?:client|server)_no_context_takeover|client_max_window_bits(?:=(?:[89]|1[0-5]))?))*)\s*(?=,|$)/;

/** The first offer of packed messages that can be accepted. With any other, `ws` would refuse the socket. */
export function acceptableOffer(extensions: string | undefined): string | undefined {
  return ACCEPTABLE.exec(extensions ?? '')?.[1];
}

// JSON packs to a fifth, or to a tenth where it repeats itself.
const MAX_RATIO = 20;

/**
 * Whether a client's messages have unpacked to more than it may make of what it has sent. Without this bound a few hundred
 * bytes would be unpacked, decoded and parsed as a quarter of a megabyte, again and again. `allowance`: the bytes beyond
 * the ratio that a socket has for its lifetime, enough for any one message.
 */
export function isInflated(unpackedBytes: number, wireBytes: number, allowance: number): boolean {
  return unpackedBytes > allowance + MAX_RATIO * wireBytes;
}

const NOTHING = Buffer.alloc(0);
// The length of the empty block at its end, which a packed message leaves out.
const TRAILER = Buffer.from([0x00, 0x00, 0xff, 0xff]);

/**
 * Unpacks the messages of a socket on the event loop. `ws` would do it in the thread pool, at ten times
 * the CPU, and keep its inflater for the socket's next message; it has no public API to choose.
 */
export function unpackAtOnce(socket: WebSocket, maxBytes: number): void {
  replaceUnpacker(socket, (own) => {
    let fragments: Buffer[] = [];
    return {
      /** Calls back in a microtask: the receiver expects it when it has returned. */
      decompress(data, isLast, done) {
        fragments.push(data);
        if (!isLast) {
          queueMicrotask(() => done(null, NOTHING));
          return;
        }
        const packed = Buffer.concat(fragments);
        fragments = [];
        const bytes = unpacked(packed, maxBytes);
        // `ws` finds the same fault, and knows its close code.
        if (bytes === null) own.decompress(packed, true, done);
        else queueMicrotask(() => done(null, bytes));
      },
      cleanup: () => own.cleanup(),
    };
  });
}

function unpacked(packed: Buffer, maxOutputLength: number): Buffer | null {
  try {
    return inflateRawSync(Buffer.concat([packed, TRAILER]), {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength,
    });
  } catch {
    return null;
  }
}
