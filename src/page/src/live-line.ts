/** The client's WebSocket, which the page can close as a network does. */
export class LiveLine {
  /** For the client's environment. */
  readonly WebSocket: typeof WebSocket;
  #socket: WebSocket | null = null;

  constructor() {
    const opened = (socket: WebSocket) => {
      this.#socket = socket;
    };
    this.WebSocket = class extends WebSocket {
      constructor(url: string | URL, protocols?: string | string[]) {
        super(url, protocols);
        opened(this);
      }
    };
  }

  /** Closes the socket without telling the client, to which it is a lost line. */
  kill(): void {
    this.#socket?.close(4000, 'killed by the page');
  }
}
