import type { Environment } from '../environment.ts';
import type { OpenLine } from './line.ts';
import { SocketLine } from './socket-line.ts';

export interface SocketOptions {
  readonly environment: Environment;
  readonly WebSocket: typeof globalThis.WebSocket;
  readonly url: () => string;
  readonly heartbeatMs: number;
  /** Called once where a handshake takes longer than it should. */
  readonly onSlow: () => void;
}

/** Opens WebSockets, whose address follows from that of the endpoint. */
export function openSocket({
  environment,
  WebSocket,
  url,
  heartbeatMs,
  onSlow,
}: SocketOptions): OpenLine {
  return (token, events) =>
    new SocketLine(
      { ...environment, WebSocket },
      { url: url().replace(/^http/, 'ws'), token, heartbeatMs, events, onSlow },
    );
}
