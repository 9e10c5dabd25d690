import type { SocketTransport } from './socket-transport.ts';

export type ConnectionState =
  | { readonly name: 'idle' }
  | { readonly name: 'waiting'; readonly cancel: () => void }
  /** The token is being asked for. */
  | { readonly name: 'preparing' }
  | TransportState;

/** There is a transport, which takes subscriptions even before it is acknowledged. */
export interface TransportState {
  readonly name: 'opening' | 'open';
  readonly transport: SocketTransport;
  readonly token: string;
  readonly sinceMs: number;
  readonly hadData: boolean;
}

export const IDLE: ConnectionState = { name: 'idle' };

export function withTransport(state: ConnectionState): TransportState | null {
  return state.name === 'opening' || state.name === 'open' ? state : null;
}
