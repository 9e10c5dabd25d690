import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { alone } from '../../../lib/alone.ts';
import type { Clock } from '../../../lib/clock.ts';
import { isPausedByNode, readOn, readThroughStream, takeReads } from '../../../lib/private-node.ts';
import { FrameMeter } from './frame-meter.ts';

/** The reasons to close a connection: too much, a message in too many pieces or too slow, the process's bound. */
export const SEND_FAULTS = ['rate', 'pieces', 'age', 'process'] as const;

export type SendFault = (typeof SEND_FAULTS)[number];

/** Sums what all connections have sent and has not arrived whole. */
export interface ReceiveSums {
  readonly clock: Clock;
  changed(buffer: ReceiveBuffer, bytes: number): void;
  /** Whether the connections that are read now have used up their time together. */
  isRoundOver(): boolean;
  /** Call it before bytes are handed on. */
  handing(buffer: ReceiveBuffer): void;
  /** Calls `turn` after the other connections that wait. */
  later(buffer: ReceiveBuffer): void;
}

/** The watch that a WebSocket keeps on its frames. */
export interface FrameWatcher {
  /** A socket that nobody has proved to own, and that waits for nothing. */
  readonly isIdle: boolean;
  /** Called before a frame is handed on, or a part of one that is small or comes after much of it. */
  arrived(bytes: number): void;
  /** Closes the socket; no more of its bytes are handed on. */
  cut(fault: SendFault): void;
}

const TURN_PIECES = 50;
// These bytes hold 40 requests at most.
const MIN_SLICE = 1_024;
const MAX_SLICE = 4_096;
const SMALL_PART = 256;
const LARGE_PART = 16_384;

/**
 * The bytes that one connection hands in. One read of a socket, up to 64 kB, may hold two thousand requests or
 * ten thousand frames. They are handed on in slices, as many as fit into a turn; the rest waits, unread bytes
 * stay in the kernel, and other connections go first. It takes the reads in place of the socket's stream, so that
 * whoever reads the socket, node's parser or `ws`, needs to know nothing of it.
 */
export class ReceiveBuffer {
  readonly socket: Socket;
  /** The bytes that have not arrived whole, or wait for their turn. */
  bytes = 0;
  /** Whether nothing more is handed on. */
  isStopped = false;
  /** Its client's, as far as is known. */
  address: string;
  /** The HTTP requests that are not answered. */
  underWay = 0;
  /** The answers on it to a client that has long sent too much. */
  refusals = 0;
  readonly #sums: ReceiveSums;
  #watcher: FrameWatcher | null = null;
  #meter: FrameMeter | null = null;
  #messages = 0;
  #messageSinceMs: number | null = null;
  /** The read that is being handed on, and how far it has been. */
  #held: Buffer | null = null;
  #at = 0;
  #sliceBytes = MAX_SLICE;
  /** The bytes of a frame, or of a request, that are not counted yet. */
  #uncounted = 0;
  #countPart: () => void = ignore;
  /** The requests that began in this turn. */
  #requests = 0;
  /** The last request that began, until it has been taken over whole. */
  #request: IncomingMessage | null = null;
  /** Its bytes, as they came. */
  #requestBytes = 0;
  /** The bytes that are being handed on at this moment. */
  #handingBytes = 0;
  /** Passes on the end of the connection, which has come behind what is held. */
  #end: (() => void) | null = null;

  constructor(sums: ReceiveSums, socket: Socket, address: string) {
    this.#sums = sums;
    this.socket = socket;
    this.address = address;
    readThroughStream(socket);
    takeReads(socket, (bytes, push) => this.#taken(bytes, push));
    socket.on('resume', () => this.#resumed());
    socket.on('close', () => this.#drop());
  }

  /** Whether a socket's message began so long ago and is not whole, unless its reader pauses. HTTP has node's deadline. */
  isOverdue(unfinishedMs: number): boolean {
    const sinceMs = this.#messageSinceMs;
    if (sinceMs === null || this.socket.readableFlowing !== true) return false;
    return this.#sums.clock.now() - sinceMs >= unfinishedMs;
  }

  /** Whether nobody waits for what comes over it; a request that has not arrived whole may never do. */
  get isIdle(): boolean {
    return this.#watcher?.isIdle ?? (this.underWay === 0 || this.#request !== null);
  }

  /** Call it for each HTTP request. `countPart` is called for each 16 kB that it sends, announced or not. */
  requestBegan(request: IncomingMessage, countPart: () => void = ignore): void {
    this.#requests += 1;
    this.#countPart = countPart;
    this.#uncounted = 0;
    // One that is being answered has arrived whole.
    if (this.#request !== null) this.#requestBytes = this.#handingBytes;
    this.#request = request;
  }

  /** Call it when a request has nothing more to come. The next of a pipeline may have begun: its bytes stay counted. */
  requestTaken(request: IncomingMessage): void {
    if (request !== this.#request) return;
    this.#request = null;
    this.#requestBytes = 0;
    this.#measure();
  }

  /** From here on the bytes are frames. `head` is what came behind the request, and is handed on again. */
  upgraded(head: Buffer, watcher: FrameWatcher): void {
    this.#watcher = watcher;
    this.#meter = new FrameMeter();
    this.#requestBytes = 0;
    // It is the end of the slice that is handed on at this moment.
    this.#at -= head.length;
  }

  /** Hands on nothing more. The kernel keeps what it has until the socket is destroyed. */
  stop(): void {
    this.isStopped = true;
    this.#drop();
  }

  cut(fault: SendFault): void {
    if (this.#watcher !== null) this.#watcher.cut(fault);
    this.stop();
    // A reset, because there may be megabytes in the kernel that nobody will read.
    if (this.#watcher === null || fault === 'process') this.socket.resetAndDestroy();
  }

  /** Hands on what fits into a turn, and comes back for the rest. */
  turn(): void {
    this.#handOn();
    this.#measure();
    if (this.#held !== null || this.isStopped || this.socket.destroyed) return;
    if (this.#end === null) {
      readOn(this.socket);
    } else {
      this.#end();
      this.socket.read(0);
    }
  }

  /** Returns whether to read on at once. */
  #taken(bytes: Buffer | null, push: (end: null) => boolean): boolean {
    if (this.isStopped) return false;
    if (bytes === null) {
      if (this.#held === null) push(null);
      else
        this.#end = () => {
          push(null);
        };
      return false;
    }
    // Nothing is read while there is something held, but for what was on its way.
    this.#held =
      this.#held === null ? bytes : Buffer.concat([this.#held.subarray(this.#at), bytes]);
    this.#at = 0;
    this.#handOn();
    this.#measure();
    return this.#held === null;
  }

  #handOn(): void {
    const { socket } = this;
    const meter = this.#meter;
    const framesBefore = meter?.frames ?? 0;
    this.#requests = 0;
    let isFirst = true;
    while (this.#held !== null) {
      // Where the reader pauses, its `resume` comes back here.
      if (socket.readableFlowing !== true || isPausedByNode(socket)) return;
      const pieces = this.#requests + (this.#meter?.frames ?? 0) - framesBefore;
      // A client that sends little is done with the first slice, and does not wait.
      if (pieces >= TURN_PIECES || (!isFirst && this.#sums.isRoundOver())) {
        this.#sums.later(this);
        return;
      }
      isFirst = false;
      this.#handOnSlice(this.#held);
      if (this.#held !== null && this.#at >= this.#held.length) this.#held = null;
    }
  }

  #handOnSlice(held: Buffer): void {
    this.#sums.handing(this);
    const start = this.#at;
    if (this.#meter !== null) {
      const { frames } = this.#meter;
      this.#at = this.#meter.next(held, start);
      this.#count(this.#at - start, this.#meter.frames > frames);
      if (this.isStopped) return;
      this.socket.emit('data', this.#frame(held, start, this.#at));
      return;
    }
    const before = this.#requests;
    this.#at = Math.min(start + this.#sliceBytes, held.length);
    this.#handingBytes = this.#at - start;
    this.#requestBytes += this.#handingBytes;
    this.#uncounted += this.#handingBytes;
    if (this.#uncounted >= LARGE_PART) {
      this.#uncounted = 0;
      this.#countPart();
    }
    const isWhole = start === 0 && this.#at === held.length;
    this.socket.emit('data', isWhole ? held : held.subarray(start, this.#at));
    const isBusy = this.#requests - before > 1;
    this.#sliceBytes = isBusy ? MIN_SLICE : Math.min(2 * this.#sliceBytes, MAX_SLICE);
  }

  /** Ordinary segments of a large frame are not counted one by one. */
  #count(bytes: number, isWhole: boolean): void {
    this.#uncounted += bytes;
    if (!isWhole && bytes >= SMALL_PART && this.#uncounted < LARGE_PART) return;
    this.#watcher?.arrived(this.#uncounted);
    this.#uncounted = 0;
  }

  /** `ws` keeps the parts of an unfinished message as they are: a copy, or each might keep 64 kB alive. */
  #frame(held: Buffer, start: number, end: number): Buffer {
    const part = held.subarray(start, end);
    return (this.#meter?.unfinishedBytes ?? 0) > 0 ? alone(part) : part;
  }

  #resumed(): void {
    // Another's `resume` does not end the pause of node's parser, which would throw at the next bytes.
    if (isPausedByNode(this.socket)) this.socket.pause();
    else if (this.#held !== null) this.#sums.later(this);
  }

  #drop(): void {
    this.#held = null;
    this.#request = null;
    this.#requestBytes = 0;
    this.#meter = null;
    this.#messageSinceMs = null;
    this.#measure();
  }

  #measure(): void {
    const unfinished = this.#meter?.unfinishedBytes ?? this.#requestBytes;
    const waiting = this.#held === null ? 0 : this.#held.length - this.#at;
    if (this.#meter !== null) this.#noteMessage(this.#meter);
    const bytes = unfinished + waiting;
    if (bytes !== this.bytes) this.#sums.changed(this, bytes);
  }

  #noteMessage({ unfinishedBytes, messages }: FrameMeter): void {
    const isOther = messages !== this.#messages;
    this.#messages = messages;
    if (unfinishedBytes === 0) this.#messageSinceMs = null;
    else if (isOther || this.#messageSinceMs === null) {
      this.#messageSinceMs = this.#sums.clock.now();
    }
  }
}

function ignore(): void {}
