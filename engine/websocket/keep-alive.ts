import type { WebSocket } from 'ws';
import { type Clock, recurring } from '../../lib/clock.ts';
import type { Slot } from '../../lib/limits/slot.ts';

/** A socket, when it last received anything, and how many pings fell due since. One that waits for an answer counts again with each interval. */
export interface PingTarget {
  readonly socket: WebSocket;
  /** Its address's, and its account's while that is proved. */
  readonly slot: Pick<Slot, 'settle'>;
  lastReceivedAtMs: number;
  unansweredPings: number;
  /** When it was last sent an event of a subscription, and when a ping; `-Infinity` where never. */
  lastEventAtMs: number;
  lastPingAtMs: number;
}

// Longer than the minute for which a client may be too busy, or its connection too poor, to read.
const SILENCE_MS = 75_000;
// Pings are spread over the interval: thousands in a row would delay real work.
const GROUPS = 12;

/**
 * Pings sockets, and cuts those that have been silent for too long: a half-open connection looks just like a quiet one.
 * One timer serves all that have no subscription; the others are pinged together with an event, since each message that
 * comes by itself keeps a phone's radio on for ten seconds.
 */
export class KeepAlive {
  readonly #clock: Clock;
  readonly #pingMs: number;
  readonly #longestHeartbeatMs: number;
  /** The pings that surely fall due within `SILENCE_MS`. */
  readonly #pingsOfSilence: number;
  readonly #groups: readonly Set<PingTarget>[] = Array.from({ length: GROUPS }, () => new Set());
  #joined = 0;
  #current = 0;
  readonly #pingFromNowOn: () => void;

  constructor(clock: Clock, pingMs: number, longestHeartbeatMs: number) {
    this.#clock = clock;
    this.#pingMs = pingMs;
    this.#longestHeartbeatMs = longestHeartbeatMs;
    this.#pingFromNowOn = recurring(clock, pingMs / GROUPS, () => this.#pingGroup());
    this.#pingsOfSilence = Math.max(1, Math.ceil(SILENCE_MS / pingMs) - 1);
  }

  /** Returns the function that leaves. */
  join(target: PingTarget): () => void {
    const group = this.#groups[this.#joined % GROUPS] as Set<PingTarget>;
    this.#joined += 1;
    group.add(target);
    this.#pingFromNowOn();
    return () => group.delete(target);
  }

  /** Call it for whatever a socket receives. */
  received(target: PingTarget): void {
    target.lastReceivedAtMs = this.#clock.now();
    target.unansweredPings = 0;
  }

  /** Call it for each event that a socket is sent. */
  sentEvent(target: PingTarget): void {
    const nowMs = this.#clock.now();
    target.lastEventAtMs = nowMs;
    if (nowMs - target.lastPingAtMs < this.#pingMs) return;
    target.unansweredPings ||= 1;
    this.#ping(target, nowMs);
  }

  /** Returns whether there are any sockets left. */
  #pingGroup(): boolean {
    const nowMs = this.#clock.now();
    const silentSinceMs = nowMs - SILENCE_MS;
    this.#current = (this.#current + 1) % GROUPS;
    for (const target of this.#groups[this.#current] as Set<PingTarget>) {
      const { socket, slot, lastReceivedAtMs, unansweredPings } = target;
      // After a pause of the process all are silent by the clock: what they sent meanwhile is read after this.
      if (lastReceivedAtMs <= silentSinceMs && unansweredPings >= this.#pingsOfSilence) {
        socket.terminate();
        continue;
      }
      // Its token may have expired, or been refused.
      slot.settle();
      const isCarried = nowMs - target.lastEventAtMs < this.#longestHeartbeatMs + this.#pingMs;
      if (!isCarried || unansweredPings > 0) target.unansweredPings += 1;
      if (!isCarried) this.#ping(target, nowMs);
    }
    return this.#groups.some(({ size }) => size > 0);
  }

  /** A ping behind unread bytes would only add to them. It counts all the same: a peer acknowledges those too. */
  #ping(target: PingTarget, nowMs: number): void {
    target.lastPingAtMs = nowMs;
    const { socket } = target;
    if (socket.readyState === socket.OPEN && socket.bufferedAmount === 0) socket.ping();
  }
}
