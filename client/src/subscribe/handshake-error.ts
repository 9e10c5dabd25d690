import { TradingGraphError } from '../errors.ts';

/**
 * Why no transport could be opened, as far as the platform says it: Node and React Native name the HTTP status of a refused
 * WebSocket, a browser does not. `extensions` have the `status`, or the `closeCode`.
 */
export function handshakeError(
  reason: string,
  extensions: TradingGraphError['extensions'] = statusIn(reason),
): TradingGraphError {
  const why = extensions.status === 403 ? FOREIGN : '';
  return new TradingGraphError(`No connection could be opened: ${reason}.${why}`, {
    code: 'NETWORK',
    retryable: true,
    extensions,
  });
}

const FOREIGN =
  ' The server may take this app for a page of another site, as behind a proxy that rewrites `Host`.';

function statusIn(reason: string): TradingGraphError['extensions'] {
  // A port is not a status.
  const [, status] = /(?:^|[^:.\d])([45]\d\d)\b/.exec(reason) ?? [];
  return status === undefined ? {} : { status: Number(status) };
}
