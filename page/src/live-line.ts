/** An event of the live list, as it came over the socket. */
export interface LiveEvent {
  readonly snapshot: boolean;
  readonly upserted: number;
  readonly closed: number;
  readonly bytes: number;
}

export interface LineObserver {
  opened?(): void;
  /** A subscription has begun; with the cursor that it goes on from, null for a whole list. */
  subscribed?(after: string | null): void;
  event?(event: LiveEvent): void;
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
      socket.addEventListener('open', () => observer.opened?.());
      socket.addEventListener('close', () => observer.closed?.());
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
}

function sent(data: unknown, observer: LineObserver): void {
  const message = parse(data);
  if (message?.type !== 'subscribe') return;
  const { query, variables } = message.payload as SubscribePayload;
  const isList = query?.includes('positionChanges') ?? false;
  if (isList && variables?.after !== undefined) observer.subscribed?.(variables.after);
}

function received(data: unknown, observer: LineObserver): void {
  const message = parse(data);
  if (message?.type !== 'next') return;
  const { data: answer } = message.payload as { data?: { positionChanges?: PositionsEvent } };
  if (!answer?.positionChanges) return;
  const { snapshot, upserted, closed } = answer.positionChanges;
  observer.event?.({
    snapshot,
    upserted: upserted.length,
    closed: closed.length,
    bytes: String(data).length,
  });
}

interface SubscribePayload {
  readonly query?: string;
  readonly variables?: { readonly after?: string | null };
}

interface PositionsEvent {
  readonly snapshot: boolean;
  readonly upserted: readonly unknown[];
  readonly closed: readonly unknown[];
}

function parse(data: unknown): { readonly type?: string; readonly payload?: unknown } | null {
  try {
    return typeof data === 'string' ? JSON.parse(data) : null;
  } catch {
    return null;
  }
}
