import { eventually } from '../../../test/support/eventually.ts';
import type { Core, Result, Sink } from '../../src/core.ts';
import type { TradingGraphError } from '../../src/errors.ts';
import type { TypedText } from '../../src/operation.ts';

export interface ChangesData {
  readonly positionChanges: {
    readonly cursor: string;
    readonly snapshot: boolean;
    readonly status: string;
    readonly totals: { readonly count: number };
  };
}

export const CHANGES: TypedText<ChangesData, { after: string | null }> =
  'subscription ($after: String) { positionChanges(after: $after) { cursor snapshot status totals { count } } }';

/** A sink that records its calls. */
export class Events implements Sink<ChangesData> {
  readonly results: Result<ChangesData>[] = [];
  readonly connections: ('connected' | 'disconnected')[] = [];
  /** The errors of connections that were lost, or not opened. */
  readonly losses: TradingGraphError[] = [];
  /** Undefined before the end of the subscription; null after an end without an error. */
  end: TradingGraphError | null | undefined = undefined;
  cursor: string | null = null;

  readonly variables = () => ({ after: this.cursor });

  next(result: Result<ChangesData>): void {
    this.results.push(result);
    this.cursor = result.data?.positionChanges.cursor ?? this.cursor;
  }

  ended(error: TradingGraphError | null): void {
    this.end = error;
  }

  connected(): void {
    this.connections.push('connected');
  }

  disconnected(why: TradingGraphError | null): void {
    this.connections.push('disconnected');
    if (why !== null) this.losses.push(why);
  }
}

export function subscribe(core: Pick<Core, 'subscribe'>): Events {
  const events = new Events();
  core.subscribe(CHANGES, events.variables, events);
  return events;
}

/** Subscribes, and waits until the positions have arrived. */
export async function follow(core: Pick<Core, 'subscribe'>): Promise<Events> {
  const events = subscribe(core);
  await eventually(() => events.results.length > 0, {
    ended: () => (events.end === null ? 'complete' : events.end),
  });
  return events;
}
