import type { AccountChanges } from '../../client/src/live/account-operation.ts';
import { plural } from './format.ts';
import { noteMark } from './lanes/mark.ts';

/** An event of the live account, as it came over the socket. */
export interface LiveEvent {
  readonly snapshot: boolean;
  /** Positions and orders that it brings or takes away. */
  readonly rows: number;
  readonly bytes: number;
}

export interface LineObserver {
  /** A subscription has begun; with the cursor that it goes on from, null for a whole list. */
  subscribed?(after: string | null): void;
  event?(event: LiveEvent): void;
  /** A socket that was open is closed. */
  closed?(): void;
}

/** The client's WebSocket, watched on its way, so that the page can show what went over the line and cut it. */
export class LiveLine {
  /** For the client's environment. */
  readonly WebSocket: typeof WebSocket;
  #socket: WebSocket | null = null;

  constructor(observer: LineObserver) {
    const opened = (socket: WebSocket) => {
      this.#socket = socket;
    };
    this.WebSocket = class extends WebSocket {
      constructor(url: string | URL, protocols?: string | string[]) {
        super(url, protocols);
        opened(this);
        this.addEventListener('open', () => {
          this.addEventListener('close', () => {
            noteMark({ lane: 'app', kind: 'fault', text: 'the socket is closed' });
            observer.closed?.();
          });
        });
        this.addEventListener('message', ({ data }) => received(data, observer));
      }

      override send(data: string): void {
        const { type, payload } = JSON.parse(data) as Message;
        const isAccount = type === 'subscribe' && payload?.query?.includes('accountChanges');
        const after = payload?.variables?.after;
        if (isAccount && after !== undefined) observer.subscribed?.(after);
        super.send(data);
      }
    };
  }

  /** Closes the socket without telling the client, to which it is a line that was lost. */
  kill(): void {
    this.#socket?.close(4000, 'killed by the page');
  }
}

interface Message {
  readonly type: string;
  readonly payload?: {
    readonly query?: string;
    readonly variables?: { readonly after?: string | null };
    readonly data?: { readonly accountChanges?: AccountChanges };
  };
}

function received(data: string, observer: LineObserver): void {
  const { type, payload } = JSON.parse(data) as Message;
  const changes = type === 'next' && payload?.data?.accountChanges;
  if (!changes) return;
  const { snapshot, positions, orders } = changes;
  const rows = [positions, orders].flatMap((list) =>
    list ? [...list.upserted, ...(list.ticks ?? []), ...list.closed] : [],
  ).length;
  const text = snapshot ? 'the whole account' : `changes in ${plural(rows, 'row')}`;
  noteMark({ lane: 'app', kind: 'event', text });
  observer.event?.({ snapshot, rows, bytes: data.length });
}
