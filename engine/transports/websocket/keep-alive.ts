import type { WebSocket } from 'ws';
import { type Clock, recurring } from '../../../lib/clock.ts';
import type { Slot } from '../../../lib/limits/slot.ts';

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

export type KeepAlive = ReturnType<typeof createKeepAlive>;

/**
 * Pings sockets, and cuts the silent: a half-open connection looks like a quiet one. A subscription's socket is pinged
 * with its events, since each message of its own keeps a phone's radio on for ten seconds; one timer serves the rest.
 */
export function createKeepAlive(clock: Clock, pingMs: number, longestHeartbeatMs: number) {
  const groups = Array.from({ length: GROUPS }, () => new Set<PingTarget>());
  const pingFromNowOn = recurring(clock, pingMs / GROUPS, pingGroup);
  /** The pings that surely fall due within `SILENCE_MS`. */
  const pingsOfSilence = Math.max(1, Math.ceil(SILENCE_MS / pingMs) - 1);
  let joined = 0;
  let current = 0;

  /** Returns whether there are any sockets left. */
  function pingGroup(): boolean {
    const nowMs = clock.now();
    const silentSinceMs = nowMs - SILENCE_MS;
    current = (current + 1) % GROUPS;
    for (const target of groups[current] as Set<PingTarget>) {
      const { socket, slot, lastReceivedAtMs, unansweredPings } = target;
      // After a pause of the process all are silent by the clock: what they sent meanwhile is read after this.
      if (lastReceivedAtMs <= silentSinceMs && unansweredPings >= pingsOfSilence) {
        socket.terminate();
        continue;
      }
      // Its token may have expired, or been refused.
      slot.settle();
      const isCarried = nowMs - target.lastEventAtMs < longestHeartbeatMs + pingMs;
      if (!isCarried || unansweredPings > 0) target.unansweredPings += 1;
      if (!isCarried) ping(target, nowMs);
    }
    return groups.some(({ size }) => size > 0);
  }

  /** A ping behind unread bytes would only add to them. It counts all the same: a peer acknowledges those too. */
  function ping(target: PingTarget, nowMs: number): void {
    target.lastPingAtMs = nowMs;
    const { socket } = target;
    if (socket.readyState === socket.OPEN && socket.bufferedAmount === 0) socket.ping();
  }

  return {
    /** Returns the function that leaves. */
    join(target: PingTarget): () => void {
      const group = groups[joined % GROUPS] as Set<PingTarget>;
      joined += 1;
      group.add(target);
      pingFromNowOn();
      return () => group.delete(target);
    },
    /** Call it for whatever a socket receives. */
    received(target: PingTarget): void {
      target.lastReceivedAtMs = clock.now();
      target.unansweredPings = 0;
    },
    /** Call it for each event that a socket is sent. */
    sentEvent(target: PingTarget): void {
      const nowMs = clock.now();
      target.lastEventAtMs = nowMs;
      if (nowMs - target.lastPingAtMs < pingMs) return;
      target.unansweredPings ||= 1;
      ping(target, nowMs);
    },
  };
}
