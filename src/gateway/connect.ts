import type { Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { buildConnector } from 'undici';

const CR = 0x0d;
const LF = 0x0a;
const ZERO = 0x30;
const ONE = 0x31;
const TWO = 0x32;

/** Where the status stands in `HTTP/1.1 100 Continue`. */
const STATUS_AT = 9;

/**
 * Connects as undici does. undici closes a connection that answers `100 Continue`, because it never
 * asks for one, but takes every other informational answer; gateways send it unasked.
 */
export function createConnector(url: URL, timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({
    allowH2: false,
    timeout: timeoutMs,
    // Otherwise each connection would make a context of its own, a fifth of what it costs to connect.
    ...(url.protocol === 'https:' && { secureContext: createSecureContext() }),
  });
  return (options, callback) =>
    connect(options, (...result) => {
      const [error, socket] = result;
      if (error === null) readContinueAsProcessing(socket);
      callback(...result);
    });
}

/**
 * Changes `100` into `102 Processing` before undici parses it. An answer begins with the first byte
 * after a request, since calls are not pipelined; its body is never looked at.
 */
function readContinueAsProcessing(socket: Socket): void {
  const heads = new InterimHeads();
  const { push, write } = socket;
  socket.write = function (this: Socket, ...args: Parameters<Socket['write']>) {
    heads.expect();
    return Reflect.apply(write, this, args);
  } as Socket['write'];
  socket.push = function (this: Socket, chunk: Buffer | null, ...rest) {
    if (chunk !== null && heads.isExpected) heads.read(chunk);
    return Reflect.apply(push, this, [chunk, ...rest]);
  };
}

/** Follows the informational heads before an answer, however they are cut into chunks. */
class InterimHeads {
  isExpected = false;
  /** The number of bytes of the present head. */
  #at = 0;
  #isHundred = false;
  #isLineEmpty = false;

  expect(): void {
    this.isExpected = true;
    this.#at = 0;
  }

  read(chunk: Buffer): void {
    for (let next = 0; next < chunk.length && this.isExpected; next += 1) {
      const byte = chunk[next] as number;
      if (this.#at > STATUS_AT + 2) this.#readRest(byte);
      // A parser passes over empty lines before a head.
      else if (this.#at > 0 || (byte !== CR && byte !== LF)) this.#readStatus(chunk, next, byte);
    }
  }

  #readStatus(chunk: Buffer, next: number, byte: number): void {
    if (this.#at === STATUS_AT) this.isExpected = byte === ONE;
    else if (this.#at === STATUS_AT + 1) this.#isHundred = byte === ZERO;
    else if (this.#at === STATUS_AT + 2) {
      if (this.#isHundred && byte === ZERO) chunk[next] = TWO;
      this.#isLineEmpty = false;
    }
    this.#at += 1;
  }

  #readRest(byte: number): void {
    if (byte === LF && this.#isLineEmpty) this.#at = 0;
    else if (byte !== CR) this.#isLineEmpty = byte === LF;
  }
}
