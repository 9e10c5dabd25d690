import { TokenBucket } from '../../lib/limits/token-bucket.ts';
import type { FrameWatcher, ReceiveBuffer, SendFault } from '../receive/receive-buffer.ts';
import type { ServerSettings } from '../server-settings.ts';
import type { Connection } from './connection.ts';

/** Options of `ws` that its types lack. Browsers send fragments of 128 kB, and a slow network parts of 500 bytes. */
export const LARGEST_IN_PIECES: object = { maxFragments: 64, maxBufferedChunks: 1_024 };

/** After it `ws` has closed the socket, but would read on for half a minute. */
export const PIECES_ERROR = 'WS_ERR_TOO_MANY_BUFFERED_PARTS';
const POLICY_VIOLATION = 1008;
const TRY_AGAIN_LATER = 1013;
// What opens a socket and answers its pings does not count: thousands of them may share one address.
const FREE = { most: 5, perMs: 10 / 60_000, owed: 5 };
const LARGE = 16_384;
// Long enough for the close frame to be read.
const LINGER_MS = 1_000;

const CLOSINGS: Readonly<Record<SendFault, readonly [number, string]>> = {
  rate: [TRY_AGAIN_LATER, 'Too many messages'],
  pieces: [POLICY_VIOLATION, 'Too many pieces'],
  age: [POLICY_VIOLATION, 'Message took too long'],
  process: [TRY_AGAIN_LATER, 'Too much unfinished'],
};

/** Counts the frames of one WebSocket against its client, and closes it for what it sends. */
export class SenderWatch implements FrameWatcher {
  readonly #connection: Connection;
  readonly #buffer: ReceiveBuffer;
  readonly #settings: ServerSettings;
  readonly #free: TokenBucket;

  constructor(connection: Connection, buffer: ReceiveBuffer, settings: ServerSettings) {
    this.#connection = connection;
    this.#buffer = buffer;
    this.#settings = settings;
    this.#free = new TokenBucket(FREE, settings.clock.now());
  }

  get isIdle(): boolean {
    const { slot, summaries, inFlight } = this.#connection;
    return slot.owner().kind === 'address' && summaries.size === 0 && inFlight.size === 0;
  }

  arrived(bytes: number): void {
    const { clock, received, countMessage, refused } = this.#settings;
    if (bytes < LARGE && this.#free.take(1, clock.now()) >= 0) return;
    if (countMessage(this.#connection.caller, bytes) === 'within') return;
    refused('messages');
    received.cut(this.#buffer, 'rate');
  }

  /** Charges what a packed message has unpacked to, as well. False where the socket is closed for it. */
  unpacked(bytes: number): boolean {
    if (this.#connection.takesPacked && bytes >= LARGE) this.arrived(bytes);
    return !this.#buffer.isStopped;
  }

  cut(fault: SendFault): void {
    const { socket } = this.#connection;
    socket.close(...CLOSINGS[fault]);
    this.#settings.clock.after(LINGER_MS, () => socket.terminate());
  }
}
