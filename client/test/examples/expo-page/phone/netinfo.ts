type Listener = (state: {
  readonly type: string;
  readonly isConnected: boolean;
  readonly details: null;
}) => void;

export default {
  addEventListener(listener: Listener) {
    const tell = () => {
      const isConnected = navigator.onLine;
      listener({ type: isConnected ? 'wifi' : 'none', isConnected, details: null });
    };
    const ending = new AbortController();
    for (const type of ['online', 'offline'])
      addEventListener(type, tell, { signal: ending.signal });
    tell();
    return () => ending.abort();
  },
};
