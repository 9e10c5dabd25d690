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
  #isDown = false;

  constructor(observer: LineObserver) {
    const opened = (socket: WebSocket) => {
      this.#socket = socket;
      if (this.#isDown) socket.close();
      socket.addEventListener('open', () => {
        socket.addEventListener('close', () => {
          noteMark({ lane: 'app', kind: 'fault', text: 'the socket is closed' });
          observer.closed?.();
        });
      });
      socket.addEventListener('message', ({ data }) => received(data, observer));
    };
    this.WebSocket = class extends WebSocket {
      constructor(url: string | URL, protocols?: string | string[]) {
        super(url, protocols);
        opened(this);
      }

      override send(data: string | ArrayBufferLike | Blob | ArrayBufferView<ArrayBuffer>): void {
        sent(data, observer);
        super.send(data as string);
      }
    };
  }

  /** Closes the socket without telling the client, to which it is a line that was lost. */
  kill(): void {
    this.#socket?.close(4000, 'killed by the page');
  }

  /** Whether nothing of the client gets through. */
  get isDown(): boolean {
    return this.#isDown;
  }

  /** As in a tunnel: the socket is lost, and until `restore` no other one opens. */
  drop(): void {
    this.#isDown = true;
    this.kill();
  }

  restore(): void {
    this.#isDown = false;
  }
}

function sent(data: unknown, observer: LineObserver): void {
  const message = parse(data);
  if (message?.type !== 'subscribe') return;
  const { query, variables } = message.payload as SubscribePayload;
  const isAccount = query?.includes('accountChanges') ?? false;
  if (isAccount && variables?.after !== undefined) observer.subscribed?.(variables.after);
}

function received(data: unknown, observer: LineObserver): void {
  const message = parse(data);
  if (message?.type !== 'next') return;
  const { data: answer } = message.payload as { data?: { accountChanges?: AccountChanges } };
  if (!answer?.accountChanges) return;
  const { snapshot, positions, orders } = answer.accountChanges;
  const changes = [positions, orders].flatMap((list) =>
    list ? [...list.upserted, ...(list.ticks ?? []), ...list.closed] : [],
  );
  const event = {
    snapshot,
    rows: changes.length,
    bytes: String(data).length,
  };
  const text = snapshot ? 'the whole account' : `changes in ${plural(event.rows, 'row')}`;
  noteMark({ lane: 'app', kind: 'event', text });
  observer.event?.(event);
}

interface SubscribePayload {
  readonly query?: string;
  readonly variables?: { readonly after?: string | null };
}

function parse(data: unknown): { readonly type?: string; readonly payload?: unknown } | null {
  try {
    return typeof data === 'string' ? JSON.parse(data) : null;
  } catch {
    return null;
  }
}
