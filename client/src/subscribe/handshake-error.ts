import { TradingGraphError } from '../errors.ts';

/**
 * Why no transport could be opened, as far as the platform says it: Node and React Native name the HTTP status of a refused
 * WebSocket, a browser does not. `extensions` have the `status`, or the `closeCode`.
 */
export function handshakeError(
  said: string,
  extensions: TradingGraphError['extensions'] = statusIn(said),
): TradingGraphError {
  const why = extensions.status === 403 ? FOREIGN : '';
  return new TradingGraphError(`No connection could be opened: ${said}.${why}`, {
    code: 'NETWORK',
    retryable: true,
    extensions,
  });
}

const FOREIGN =
  ' The server may take this app for a page of another site, as behind a proxy that rewrites `Host`.';

function statusIn(said: string): TradingGraphError['extensions'] {
  // A port is none.
  const [, status] = /(?:^|[^:.\d])([45]\d\d)\b/.exec(said) ?? [];
  return status === undefined ? {} : { status: Number(status) };
}
