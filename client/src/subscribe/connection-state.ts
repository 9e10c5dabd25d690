import type { Line } from './line.ts';

export type ConnectionState =
  | { readonly name: 'idle' }
  | { readonly name: 'waiting'; readonly cancel: () => void }
  /** The token is asked for, and the URL of the line. */
  | { readonly name: 'preparing' }
  | LineState;

/** There is a line, which carries subscriptions even before it is acknowledged. */
export interface LineState {
  readonly name: 'opening' | 'open';
  readonly line: Line;
  readonly token: string;
  readonly sinceMs: number;
  readonly hadData: boolean;
}

export const IDLE: ConnectionState = { name: 'idle' };

export function withLine(state: ConnectionState): LineState | null {
  return state.name === 'opening' || state.name === 'open' ? state : null;
}
