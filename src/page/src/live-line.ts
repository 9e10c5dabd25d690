/** The client's connection, which the page can close, so that the client sees a lost network. */
export class LiveLine {
  /** The class for the client's environment. */
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

  /** Closes the socket without the client's knowledge, so that the client sees a lost connection. */
  kill(): void {
    this.#socket?.close(4000, 'killed by the page');
  }
}
